import { useState } from "preact/hooks";
import { call, projectPath, type Schemas } from "../base/api.ts";
import { useResource } from "../base/resource.ts";
import { changeParams } from "../base/router.ts";
import { Button } from "../parts/button.tsx";
import { Chip } from "../parts/chip.tsx";
import { Loaded } from "../parts/states.tsx";
import { type Condition, conditionsOf, filterFrom, OPERATORS } from "./conditions.ts";
import { FilterForm } from "./filter-form.tsx";
import { filterOf, type Question } from "./question.ts";
import { VectorDialog } from "./vector-dialog.tsx";

type Fields = Schemas["Fields"];

/** Another filter is another search: the opened result stays, because it may still be among the results. */
const setFilter = (filter: string) => changeParams({ filter });

/** The fields that exist where is searched, which are read when a filter is built. */
function useFields({ project, target }: Question, open: boolean) {
  const query = target === undefined ? {} : { [target.kind]: target.name };
  const key = open && project !== "" ? JSON.stringify(["fields", project, query]) : undefined;
  return useResource(key, async (signal) => {
    return (await call<Fields>(projectPath(project, "fields"), { query, signal })).body.fields;
  });
}

/** The conditions of the filter and a form that adds one; beside it, the way to search by a vector. */
export function FilterBar({ question }: { question: Question }) {
  const [open, setOpen] = useState(false);
  const [pasting, setPasting] = useState(false);
  const fields = useFields(question, open);
  const conditions = conditionsOf(filterOf(question) ?? {});
  const add = (condition: Condition) => setFilter(filterFrom([...(conditions ?? []), condition]));
  return (
    <div class="filter-bar">
      <div class="filter-chips">
        {conditions === undefined ? (
          <Chip text={`filter ${question.filter}`} onEnd={() => setFilter("")} />
        ) : (
          conditions.map((each) => (
            <Chip
              key={`${each.field} ${each.operator}`}
              text={`${each.field} ${OPERATORS[each.operator]} ${each.value}`}
              onEnd={() => setFilter(filterFrom(conditions.filter((other) => other !== each)))}
            />
          ))
        )}
        {conditions !== undefined && (
          <Button kind="quiet" icon="filter" expanded={open} onClick={() => setOpen(!open)}>
            Filter
          </Button>
        )}
        <Button kind="quiet" onClick={() => setPasting(true)}>
          Search by vector
        </Button>
      </div>
      {pasting && <VectorDialog onClose={() => setPasting(false)} />}
      {open && conditions !== undefined && (
        <div class="panel">
          <Loaded of={fields}>{(list) => <FilterForm fields={list} onAdd={add} />}</Loaded>
        </div>
      )}
    </div>
  );
}

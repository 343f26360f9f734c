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
import { VectorForm } from "./vector-form.tsx";

type Fields = Schemas["Fields"];

/** Another filter starts another search. The opened result stays, because it may still be among the results. */
const setFilter = (filter: string) => changeParams({ filter });

/** The fields of the searched environment or release, which are read when a filter is built. */
function useFields({ project, target }: Question, open: boolean) {
  const query = target === undefined ? {} : { [target.kind]: target.name };
  const key = open && project !== "" ? JSON.stringify(["fields", project, query]) : undefined;
  return useResource(key, async (signal) => {
    return (await call<Fields>(projectPath(project, "fields"), { query, signal })).body.fields;
  });
}

/** The part that is open below the row of controls. */
type Opened = "filter" | "more" | undefined;

/** The end of the row of controls: the filter, whose conditions are below it, and the rarely used options. */
export function FilterBar({ question }: { question: Question }) {
  const [open, setOpen] = useState<Opened>(undefined);
  const fields = useFields(question, open === "filter");
  const conditions = shownConditions(question);
  const add = (condition: Condition) => setFilter(filterFrom([...(conditions ?? []), condition]));
  const toggle = (part: Opened) => setOpen(open === part ? undefined : part);
  return (
    <>
      {conditions !== undefined && (
        <Button icon="filter" expanded={open === "filter"} onClick={() => toggle("filter")}>
          Filter
        </Button>
      )}
      <Button expanded={open === "more"} onClick={() => toggle("more")}>
        More
      </Button>
      <FilterChips question={question} conditions={conditions} />
      {open === "filter" && conditions !== undefined && (
        <div class="panel">
          <Loaded of={fields}>{(list) => <FilterForm fields={list} onAdd={add} />}</Loaded>
        </div>
      )}
      {open === "more" && (
        <div class="panel">
          <VectorForm onDone={() => setOpen(undefined)} />
        </div>
      )}
    </>
  );
}

/** The conditions of the filter, empty without one; undefined for a filter that only a text can show. */
function shownConditions(question: Question): readonly Condition[] | undefined {
  const filter = filterOf(question);
  if (filter !== undefined) return conditionsOf(filter);
  return question.filter === "" ? [] : undefined;
}

interface FilterChipsProps {
  readonly question: Question;
  readonly conditions: readonly Condition[] | undefined;
}

/** The filter as chips that can be removed. A filter that the builder cannot show, or that is invalid, is one chip. */
function FilterChips({ question, conditions }: FilterChipsProps) {
  if (conditions?.length === 0) return null;
  const kind = filterOf(question) === undefined ? "unreadable filter" : "filter";
  return (
    <div class="filter-chips">
      {conditions === undefined ? (
        <Chip text={`${kind} ${question.filter}`} onEnd={() => setFilter("")} />
      ) : (
        conditions.map((each) => (
          <Chip
            key={`${each.field} ${each.operator}`}
            text={`${each.field} ${OPERATORS[each.operator]} ${each.value}`}
            onEnd={() => setFilter(filterFrom(conditions.filter((other) => other !== each)))}
          />
        ))
      )}
    </div>
  );
}

import { changeParams } from "../base/router.ts";
import { Chip } from "../parts/button.tsx";
import { DialogButton } from "../parts/dialog.tsx";
import { Field, Form } from "../parts/form.tsx";
import { type Condition, conditionsOf, filterFrom, OPERATORS } from "./conditions.ts";
import { FilterForm } from "./filter-form.tsx";
import { filterOf, OTHER_QUESTION, type Question } from "./question.ts";
import { parseVector } from "./vector.ts";

/** Another filter starts another search. The opened result stays, because it may still be among the results. */
const setFilter = (filter: string) => changeParams({ filter });

/** The end of the row of controls: the filter, whose conditions are below it, and the search by a vector. */
export function FilterBar({ question }: { question: Question }) {
  const conditions = shownConditions(question);
  return (
    <>
      {conditions !== undefined && (
        <DialogButton icon="filter" text="Filter">
          {(close) => (
            <FilterForm
              question={question}
              onAdd={(condition) => {
                setFilter(filterFrom([...conditions, condition]));
                close();
              }}
            />
          )}
        </DialogButton>
      )}
      <DialogButton text="By vector" title="Search by vector">
        {(close) => <VectorForm onDone={close} />}
      </DialogButton>
      <FilterChips question={question} conditions={conditions} />
    </>
  );
}

/** A form for a vector that was computed elsewhere. */
function VectorForm({ onDone }: { onDone: () => void }) {
  return (
    <Form
      submit="Search by vector"
      onSubmit={({ vector = "" }) => {
        changeParams({ ...OTHER_QUESTION, q: "", vector: parseVector(vector) });
        onDone();
      }}
    >
      <Field label="Vector" hint="A JSON array, the body of a search, or base64 of float32.">
        <textarea name="vector" required spellcheck={false} placeholder="[0.1, 0.2, ...]" />
      </Field>
    </Form>
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

import { useState } from "preact/hooks";
import { counted, number } from "../base/format.ts";
import { placeOf } from "../base/places.ts";
import { useResource } from "../base/resource.ts";
import { client, type Schemas } from "../base/service.ts";
import { Form, Select, TextField } from "../parts/form.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { type Condition, OPERATORS, type Operator, typedValue } from "./conditions.ts";
import type { Question } from "./question.ts";

type Field = Schemas["Fields"]["fields"][number];

/** Maximum values that are offered as buttons: those of most files. */
const OFFERED = 12;
const TEXT_OPERATORS: readonly Operator[] = ["$eq", "$ne", "$prefix", "$glob", "$exists"];
const NUMBER_OPERATORS: readonly Operator[] = ["$eq", "$ne", "$gte", "$lte", "$exists"];

const operatorsOf = ({ types }: Field): readonly Operator[] =>
  types.includes("number") ? NUMBER_OPERATORS : TEXT_OPERATORS;

interface FilterFormProps {
  readonly question: Question;
  readonly onAdd: (condition: Condition) => void;
}

/** Builds one condition from the fields of the searched files and the values that they have. */
export function FilterForm({ question: { project, place }, onAdd }: FilterFormProps) {
  const fields = useResource(`${project} ${place}`, (signal) =>
    client.listFields(project, { ...placeOf(place), signal }),
  );
  return (
    <Loaded of={fields}>{(value) => <FieldForm fields={value.fields} onAdd={onAdd} />}</Loaded>
  );
}

interface FieldFormProps extends Pick<FilterFormProps, "onAdd"> {
  readonly fields: readonly Field[];
}

function FieldForm({ fields, onAdd }: FieldFormProps) {
  const [chosen, setChosen] = useState<string>();
  const [operator, setOperator] = useState<Operator>("$eq");
  // At first a field whose values several files share.
  const usual = fields.find(({ distinct, files }) => distinct * 2 <= files) ?? fields[0];
  const field = fields.find(({ name }) => name === chosen) ?? usual;
  if (field === undefined) return <Empty title="There is nothing to filter by yet." />;
  const { name, types, files, values } = field;
  return (
    <Form
      submit="Add condition"
      onSubmit={({ value = "" }) =>
        onAdd({
          field: name,
          operator,
          value: operator === "$exists" ? true : typedValue(value, types),
        })
      }
    >
      <div class="whole-row">
        <Select
          label="Field"
          value={name}
          hint={counted(files, "file")}
          options={fields.map((each) => ({ value: each.name, label: each.name }))}
          onChange={(other) => {
            setChosen(other);
            setOperator("$eq");
          }}
        />
      </div>
      <Select
        label="Comparison"
        value={operator}
        options={operatorsOf(field).map((value) => ({ value, label: OPERATORS[value] }))}
        onChange={(value) => setOperator(value as Operator)}
      />
      {operator !== "$exists" && <TextField label="Value" name="value" required />}
      {operator === "$eq" && values.length > 0 && (
        <ul class="values whole-row" aria-label={`Values of ${name}`}>
          {values.slice(0, OFFERED).map(({ value, count }) => (
            <li key={String(value)}>
              <button
                type="button"
                class="value"
                onClick={() => onAdd({ field: name, operator, value })}
              >
                {String(value)} <span class="muted">{number(count)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Form>
  );
}

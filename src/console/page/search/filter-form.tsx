import { useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import type { Schemas } from "../base/api.ts";
import { counted, number } from "../base/format.ts";
import { Form, Select, TextField } from "../parts/form.tsx";
import { Empty } from "../parts/states.tsx";
import { type Condition, OPERATORS, type Operator, typedValue } from "./conditions.ts";

type Field = Schemas["Fields"]["fields"][number];

/** Maximum values that are offered as buttons: those of most files. */
const OFFERED = 12;
const TEXT_OPERATORS: readonly Operator[] = ["$eq", "$ne", "$prefix", "$glob", "$exists"];
const NUMBER_OPERATORS: readonly Operator[] = ["$eq", "$ne", "$gte", "$lte", "$exists"];

const operatorsOf = ({ types }: Field): readonly Operator[] =>
  types.includes("number") ? NUMBER_OPERATORS : TEXT_OPERATORS;

/** The name of the first field whose values several files share, or else of the first field. */
function usual(fields: readonly Field[]): string {
  const shared = fields.find(({ distinct, files }) => distinct * 2 <= files);
  return (shared ?? fields[0])?.name ?? "";
}

interface FilterFormProps {
  readonly fields: readonly Field[];
  readonly onAdd: (condition: Condition) => void;
}

/** Builds one condition from the fields that exist and the values that they have. */
export function FilterForm({ fields, onAdd }: FilterFormProps) {
  const [name, setName] = useState(usual(fields));
  const [operator, setOperator] = useState<Operator>("$eq");
  const [text, setText] = useState("");
  const field = fields.find((each) => each.name === name);
  const add = useAction(async () => {
    if (field === undefined) return;
    const value = operator === "$exists" ? true : typedValue(text, field.types);
    onAdd({ field: name, operator, value });
    setText("");
  });
  if (field === undefined) return <Empty title="There is nothing to filter by yet." />;
  const choose = (chosen: string) => {
    setName(chosen);
    setOperator("$eq");
  };
  return (
    <Form action={add} submit="Add condition">
      <Select
        label="Field"
        value={name}
        hint={counted(field.files, "file")}
        options={fields.map((each) => ({ value: each.name, label: each.name }))}
        onChange={choose}
      />
      <Select
        label="Comparison"
        value={operator}
        options={operatorsOf(field).map((value) => ({ value, label: OPERATORS[value] }))}
        onChange={(value) => setOperator(value as Operator)}
      />
      {operator !== "$exists" && (
        <TextField label="Value" required value={text} onInput={setText} />
      )}
      {operator === "$eq" && field.values.length > 0 && (
        <ul class="values" aria-label={`Values of ${name}`}>
          {field.values.slice(0, OFFERED).map(({ value, count }) => (
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

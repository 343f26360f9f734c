import type { ComponentChildren } from "preact";
import type { Action } from "../base/action.ts";
import { Button } from "./button.tsx";
import { Failure } from "./states.tsx";

interface FieldProps {
  readonly label: string;
  /** True if a visible heading or column already names the field. */
  readonly labelHidden?: boolean | undefined;
  readonly hint?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A control below its label. */
export function Field({ label, labelHidden, hint, children }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children
    <label class="field">
      <span class={labelHidden ? "visually-hidden" : "field-label"}>{label}</span>
      {children}
      {hint && <span class="hint">{hint}</span>}
    </label>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly onInput: (value: string) => void;
}

export function TextField(props: TextFieldProps) {
  const { label, hint, value, required = false, placeholder, onInput } = props;
  return (
    <Field label={label} hint={hint}>
      <input
        type="text"
        autocomplete="off"
        value={value}
        required={required}
        placeholder={placeholder}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Field>
  );
}

interface Option {
  readonly value: string;
  readonly label: string;
  /** Options of the same group are listed together under its name. */
  readonly group?: string;
}

interface SelectProps {
  readonly label: string;
  readonly labelHidden?: boolean;
  readonly hint?: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
  readonly disabled?: boolean;
}

function OptionList({ options }: { options: readonly Option[] }) {
  return options.map(({ value, label }) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));
}

export function Select(props: SelectProps) {
  const { label, labelHidden, hint, value, options, onChange, disabled = false } = props;
  const groups = [...new Set(options.map(({ group }) => group))];
  return (
    <Field label={label} labelHidden={labelHidden} hint={hint}>
      <select
        aria-label={label}
        value={value}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {groups.map((group) => {
          const list = <OptionList options={options.filter((each) => each.group === group)} />;
          if (group === undefined) return list;
          return (
            <optgroup key={group} label={group}>
              {list}
            </optgroup>
          );
        })}
      </select>
    </Field>
  );
}

interface ChoicesProps {
  readonly label: string;
  /** The text while no option is chosen. */
  readonly none: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** A list of choices, which is folded until it is opened. */
export function Choices({ label, none, options, chosen, onChange }: ChoicesProps) {
  const without = (value: string) => chosen.filter((each) => each !== value);
  return (
    <details class="choices">
      <summary>
        <span class="muted">{label}:</span> {chosen.length === 0 ? none : chosen.join(", ")}
      </summary>
      <fieldset>
        <legend class="visually-hidden">{label}</legend>
        {options.map(({ value, label: text }) => (
          <label key={value}>
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={(event) =>
                onChange([...without(value), ...(event.currentTarget.checked ? [value] : [])])
              }
            />
            <span>
              <code>{value}</code> <span class="muted small">{text}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </details>
  );
}

interface SegmentedProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly onChange: (value: T) => void;
}

/** One of a few choices, all of them visible. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
}: SegmentedProps<T>) {
  return (
    <fieldset class="segmented">
      <legend class="field-label">{label}</legend>
      <div class="segments">
        {options.map((option) => (
          <label key={option.value}>
            <input
              type="radio"
              name={label}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface FormProps {
  readonly children: ComponentChildren;
  readonly action: Action<[]>;
  readonly submit: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  /** Content next to the button. */
  readonly aside?: ComponentChildren;
}

/** Fields, in a row if they fit, with the failure of the action and the button below them. */
export function Form({ children, action, submit, danger, disabled, aside }: FormProps) {
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        action.run();
      }}
    >
      <div class="fields">{children}</div>
      {action.error !== undefined && <Failure error={action.error} />}
      <div class="actions">
        <Button
          type="submit"
          kind={danger ? "danger" : "primary"}
          disabled={action.running || disabled === true}
        >
          {submit}
        </Button>
        {aside}
      </div>
    </form>
  );
}

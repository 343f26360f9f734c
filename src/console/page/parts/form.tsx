import type { ComponentChildren, PartialInputHTMLAttributes } from "preact";
import { useAction } from "../base/resource.ts";
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

interface TextFieldProps
  extends Pick<FieldProps, "label" | "hint">,
    Pick<
      PartialInputHTMLAttributes<HTMLInputElement>,
      "name" | "required" | "placeholder" | "pattern" | "defaultValue" | "onInput"
    > {
  readonly type?: "text" | "password" | "datetime-local";
}

export function TextField({ label, hint, ...input }: TextFieldProps) {
  // The types of Preact take one type of input at a time.
  const attributes: object = { type: "text", autocomplete: "off", ...input };
  return (
    <Field label={label} hint={hint}>
      <input {...attributes} />
    </Field>
  );
}

interface Option {
  readonly value: string;
  readonly label: string;
  /** Options of the same group are listed together under its name. */
  readonly group?: string;
}

interface SelectProps extends Omit<FieldProps, "children"> {
  /** The name of a field of a form. */
  readonly name?: string;
  /** The chosen option, which need not be listed; in a form the one that is chosen first. */
  readonly value: string;
  readonly options: readonly Option[];
  /** Absent in a form. */
  readonly onChange?: (value: string) => void;
  readonly disabled?: boolean;
}

export function Select(props: SelectProps) {
  const { label, labelHidden, hint, name, value, options, onChange, disabled = false } = props;
  const isListed = value === "" || options.some((each) => each.value === value);
  const shown = isListed ? options : [{ value, label: value }, ...options];
  const groups = Map.groupBy(shown, ({ group }) => group);
  return (
    <Field label={label} labelHidden={labelHidden} hint={hint}>
      <select
        aria-label={label}
        name={name}
        value={onChange && value}
        disabled={disabled}
        onChange={(event) => onChange?.(event.currentTarget.value)}
      >
        {[...groups].map(([group, members]) => {
          const list = members.map((each) => (
            <option key={each.value} value={each.value} {...startsChosen(each.value === value)}>
              {each.label}
            </option>
          ));
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

/** The option to which a reset of its form returns. The types of Preact lack the property. */
const startsChosen = (defaultSelected: boolean): object => ({ defaultSelected });

interface FormProps {
  readonly children: ComponentChildren;
  readonly submit: string;
  /** Takes the values of the fields by their names. The form is reset when it has succeeded. */
  readonly onSubmit: (fields: Readonly<Record<string, string>>, data: FormData) => unknown;
  readonly danger?: boolean;
  /** Content next to the button. */
  readonly aside?: ComponentChildren;
}

/** Fields, in a row if they fit, with the failure of the action and the button below them. */
export function Form({ children, submit, onSubmit, danger = false, aside }: FormProps) {
  const action = useAction(async (form: HTMLFormElement) => {
    const data = new FormData(form);
    await onSubmit(Object.fromEntries(data) as Record<string, string>, data);
    form.reset();
  });
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        action.run(event.currentTarget);
      }}
    >
      <div class="fields">{children}</div>
      {action.error !== undefined && <Failure error={action.error} />}
      <div class="actions">
        <Button type="submit" kind={danger ? "danger" : "primary"} disabled={action.running}>
          {submit}
        </Button>
        {aside}
      </div>
    </form>
  );
}

import { type FieldError, invalid } from "../problem/problem.ts";
import { abbreviate } from "../shared/abbreviate.ts";

export type Values = Readonly<Record<string, unknown>>;

/** A field of an input request, as its maker described it. */
interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** The values to choose from; empty when anything goes. */
  readonly options: readonly unknown[];
}

/** Options are plain values, or objects whose `value` is what an answer names. */
function optionValue(option: unknown): unknown {
  return typeof option === "object" && option !== null && "value" in option ? option.value : option;
}

/** Descriptions without a name describe nothing that could be answered. */
function fieldsOf(descriptions: readonly unknown[]): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const description of descriptions) {
    const { name, type, required, options } = (description ?? {}) as Record<string, unknown>;
    if (typeof name !== "string") continue;
    fields.set(name, {
      name,
      type: typeof type === "string" ? type : "",
      isRequired: required === true,
      options: Array.isArray(options) ? options.map(optionValue) : [],
    });
  }
  return fields;
}

function isChoice({ options }: Field, value: unknown): boolean {
  return options.length === 0 ? typeof value === "string" : options.includes(value);
}

/** What is wrong with the value of a field, or undefined. Unknown types take any value. */
function faultOf(field: Field, value: unknown): string | undefined {
  switch (field.type) {
    case "text":
      return typeof value === "string" ? undefined : "must be text";
    case "number":
      return typeof value === "number" && Number.isFinite(value) ? undefined : "must be a number";
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "select":
      return isChoice(field, value) ? undefined : "must be one of the options";
    case "multiselect":
      return Array.isArray(value) && value.every((member) => isChoice(field, member))
        ? undefined
        : "must be an array of the options";
    default:
      return undefined;
  }
}

/**
 * The values of an answer without its nulls, each of which stands for no answer. Throws
 * `validation-failed` naming each unknown field, each wrong value and each missing required field.
 */
export function validValues(descriptions: readonly unknown[], given: Values): Values {
  const fields = fieldsOf(descriptions);
  const answered = Object.entries(given).filter(([, value]) => value !== null);
  const errors: FieldError[] = [];
  for (const name of Object.keys(given)) {
    const message = "is not a field of this input request";
    if (!fields.has(name)) errors.push({ field: `values.${abbreviate(name)}`, message });
  }
  const values = new Map(answered);
  for (const field of fields.values()) {
    const value = values.get(field.name);
    const missing = field.isRequired ? "is required" : undefined;
    const message = value === undefined ? missing : faultOf(field, value);
    if (message !== undefined) errors.push({ field: `values.${abbreviate(field.name)}`, message });
  }
  if (errors.length > 0) throw invalid(errors);
  return Object.fromEntries(answered);
}

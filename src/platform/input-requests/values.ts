import { abbreviate } from "../../domain/abbreviate.ts";
import { canonicalValue } from "../../domain/json/canonical.ts";
import { isJsonNumber } from "../../domain/json/parse.ts";
import { invalid } from "../../domain/problem/problem.ts";
import type { FieldError } from "../../domain/problem/schema.ts";

export type Values = Readonly<Record<string, unknown>>;

/** A field of an input request. */
interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** The allowed values; empty when every value is allowed. */
  readonly options: readonly unknown[];
}

/** An option is a plain value, or an object with a `value`. */
function optionValue(option: unknown): unknown {
  return typeof option === "object" && option !== null && "value" in option ? option.value : option;
}

/** Descriptions without a name are skipped, because no answer can refer to them. */
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

/** Numbers are the same if they are equal, however they are written. */
function isSame(a: unknown, b: unknown): boolean {
  if (!isJsonNumber(a) || !isJsonNumber(b)) return a === b;
  return canonicalValue(a) === canonicalValue(b);
}

function isChoice({ options }: Field, value: unknown): boolean {
  return options.length === 0
    ? typeof value === "string"
    : options.some((each) => isSame(each, value));
}

/** The error of a field's value, or undefined. Fields of unknown types accept every value. */
function errorOf(field: Field, value: unknown): string | undefined {
  switch (field.type) {
    case "text":
      return typeof value === "string" ? undefined : "must be text";
    case "number":
      return isJsonNumber(value) ? undefined : "must be a number";
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
 * The values of an answer, without nulls, which count as absent. Throws `validation-failed` naming
 * every unknown field, wrong value and missing required field.
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
    const message = value === undefined ? missing : errorOf(field, value);
    if (message !== undefined) errors.push({ field: `values.${abbreviate(field.name)}`, message });
  }
  if (errors.length > 0) throw invalid(errors);
  return Object.fromEntries(answered);
}

import { FormatRegistry, Kind, type Static, type TObject, type TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { abbreviate } from "../abbreviate.ts";
import { hasAtMost, isDateTime, isUri, isUuid } from "../formats.ts";
import { PROBLEM_MAX_FIELD_ERRORS } from "../limits.ts";
import { invalid } from "./problem.ts";
import type { FieldError } from "./schema.ts";
import { unstorableFields } from "./unstorable.ts";

/** Maximum unknown fields that a message names. */
const UNKNOWN_FIELDS_NAMED = 5;

FormatRegistry.Set("uuid", isUuid);
FormatRegistry.Set("date-time", isDateTime);
FormatRegistry.Set("uri", isUri);
FormatRegistry.Set("uri-reference", (value) => value.length > 0);

/** `/a/b/0/c` of a JSON pointer becomes `a.b[0].c`. */
function dotted(pointer: string): string {
  let path = "";
  for (const raw of pointer.split("/").slice(1)) {
    const part = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    if (/^\d+$/.test(part)) path += `[${part}]`;
    else path += path === "" ? part : `.${part}`;
  }
  return path;
}

function literalNames(schema: TSchema): string | undefined {
  const members = schema["anyOf"] as TSchema[] | undefined;
  if (!members?.every((member) => "const" in member || member["type"] === "null")) return undefined;
  return members.map((member) => ("const" in member ? String(member["const"]) : "null")).join(", ");
}

/** The message for an absent field. It lists the unknown fields, because one of them may be a misspelling of it. */
function absenceOf(siblings: unknown, schema: TSchema): string {
  const known: object = schema["properties"] ?? {};
  const unknown = Object.keys(siblings ?? {}).filter((key) => !Object.hasOwn(known, key));
  if (unknown.length === 0) return "is required";
  const named = unknown.slice(0, UNKNOWN_FIELDS_NAMED).map((name) => `"${abbreviate(name)}"`);
  return `is required; the unknown fields are ${named.join(", ")}`;
}

/** A message that describes the schema and never repeats the value. */
function messageOf(error: ValueError, schema: TSchema, value: unknown): string {
  const literals = literalNames(error.schema);
  if (error.type === ValueErrorType.ObjectRequiredProperty) {
    const isOfBody = error.path.lastIndexOf("/") === 0;
    return isOfBody ? absenceOf(value, schema) : "is required";
  }
  if (error.type === ValueErrorType.ObjectAdditionalProperties) return "is not a known field";
  if (literals !== undefined) return `must be one of ${literals}`;
  const custom = error.schema["errorMessage"];
  if (typeof custom === "string") return custom;
  if (error.type === ValueErrorType.StringFormat)
    return `must be a valid ${error.schema["format"]}`;
  if (error.type === ValueErrorType.StringPattern) return `must match ${error.schema["pattern"]}`;
  const text = error.message.replace(/^Expected /, "").replace(/^(\w)/, (c) => c.toLowerCase());
  const bound = / to be (less|greater) or equal to (\S+)$/.exec(text);
  if (bound !== null) return `must be at ${bound[1] === "less" ? "most" : "least"} ${bound[2]}`;
  return `must be ${text.replace(/^(string|array|number|integer) length /, "of length ")}`;
}

/** JSON Schema counts characters, but TypeBox counts UTF-16 units, which may be more. */
function isShortEnough({ type, schema, value }: ValueError): boolean {
  if (type !== ValueErrorType.StringMaxLength || typeof value !== "string") return false;
  return hasAtMost(schema["maxLength"] as number, value);
}

/**
 * Cuts texts that are far too long, because patterns and formats take time by length. The cut texts are still too long.
 */
function shortened(schema: TSchema, value: unknown): unknown {
  if (schema["type"] !== "object" || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value;
  const copy: Record<string, unknown> = { ...value };
  for (const [name, { maxLength }] of Object.entries((schema as TObject).properties)) {
    const text = copy[name];
    if (typeof text === "string" && maxLength) copy[name] = text.slice(0, 2 * maxLength + 1);
  }
  return copy;
}

function fieldErrors(schema: TSchema, check: TypeCheck<TSchema>, given: unknown): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  const value = shortened(schema, given);
  for (const error of check.Errors(value)) {
    if (isShortEnough(error)) continue;
    const field = dotted(error.path);
    // The first message per field suffices; the others repeat it in other words.
    if (seen.has(field)) continue;
    seen.add(field);
    errors.push({ field: field === "" ? "body" : field, message: messageOf(error, schema, value) });
    if (errors.length >= PROBLEM_MAX_FIELD_ERRORS) break;
  }
  return errors;
}

function allowsNull(schema: TSchema): boolean {
  if (schema["type"] === "null" || schema[Kind] === "Any" || schema[Kind] === "Unknown")
    return true;
  return ((schema["anyOf"] as TSchema[] | undefined) ?? []).some(allowsNull);
}

/** The optional fields whose schema does not allow null. A null there counts as absent. */
function absentIfNull(schema: TSchema): readonly string[] {
  if (schema["type"] !== "object") return [];
  const { properties, required = [] } = schema as TObject;
  return Object.keys(properties).filter(
    (name) => !required.includes(name) && !allowsNull(properties[name] as TSchema),
  );
}

/** Removes nulls in these fields. */
function dropNulls(names: readonly string[], value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  let copy = value as Record<string, unknown>;
  for (const name of names) {
    if (copy[name] !== null) continue;
    if (copy === value) copy = { ...copy };
    delete copy[name];
  }
  return copy;
}

export type Validator<S extends TSchema> = (value: unknown) => Static<S>;

interface ValidatorOptions {
  /** The value is stored, so text that cannot be stored is invalid. */
  readonly stored?: boolean;
}

/**
 * A function that returns the valid value or throws a `validation-failed` problem that names every
 * invalid field. Create it once, at registration. Its first call compiles the schema, so that a start
 * does not compile the schemas of all operations.
 */
export function validator<S extends TSchema>(
  schema: S,
  { stored = false }: ValidatorOptions = {},
): Validator<S> {
  let compiled: TypeCheck<TSchema> | undefined;
  const optional = absentIfNull(schema);
  return (input) => {
    compiled ??= TypeCompiler.Compile(schema as TSchema);
    const check = compiled;
    const value = dropNulls(optional, input);
    const errors = check.Check(value) ? [] : fieldErrors(schema, check, value);
    if (errors.length === 0 && stored) errors.push(...unstorableFields(schema, value));
    if (errors.length === 0) return value as Static<S>;
    throw invalid(errors.slice(0, PROBLEM_MAX_FIELD_ERRORS));
  };
}

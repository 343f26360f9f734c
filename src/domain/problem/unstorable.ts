import { Kind, type TSchema } from "@sinclair/typebox";
import { textFault } from "../formats.ts";
import type { FieldError } from "./schema.ts";

/** The reason why a text cannot be stored, in words that follow the name of its field; undefined if it can. */
type Fault = (text: string) => string | undefined;

const OPAQUE = new Set(["Unknown", "Any", "Record"]);

/** True for a schema that does not describe the members of a value. */
const isOpaque = (schema: TSchema): boolean => OPAQUE.has(schema[Kind]);

/**
 * The places in a valid value whose text cannot be stored. Members that the schema does not name are ignored, as
 * they are everywhere. The keyword `keptAsSent` marks JSON that is stored as its original text. Its escapes are kept,
 * so it may contain any character. `isTyped` marks values that other code checks.
 */
export function unstorableFields(schema: TSchema, value: unknown, prefix = ""): FieldError[] {
  const errors: FieldError[] = [];
  visitTyped(schema, value, { field: prefix, fault: textFault, errors });
  return errors;
}

/** The places in any value whose text has a fault. */
export function faultyFields(value: unknown, fault: Fault): FieldError[] {
  const errors: FieldError[] = [];
  visitAny(value, { field: "", fault, errors });
  return errors;
}

interface Visit {
  readonly field: string;
  readonly fault: Fault;
  readonly errors: FieldError[];
}

const memberOf = ({ field, ...rest }: Visit, name: string): Visit => ({
  ...rest,
  field: field === "" ? name : `${field}.${name}`,
});
const itemOf = ({ field, ...rest }: Visit, index: number): Visit => ({
  ...rest,
  field: `${field}[${index}]`,
});

function visitTyped(schema: TSchema, value: unknown, visit: Visit): void {
  if (schema["keptAsSent"] === true || schema["isTyped"] === true) return;
  const { anyOf, items, properties } = schema;
  if (Array.isArray(anyOf)) {
    const ways = anyOf.filter((each: TSchema) => each["type"] === typeOf(value) || isOpaque(each));
    for (const way of ways) visitTyped(way, value, visit);
  } else if (Array.isArray(value) && items !== undefined) {
    value.forEach((item, i) => {
      visitTyped(items, item, itemOf(visit, i));
    });
  } else if (properties !== undefined && typeOf(value) === "object") {
    for (const [name, member] of Object.entries(properties as Record<string, TSchema>)) {
      const given = (value as Record<string, unknown>)[name];
      if (given !== undefined) visitTyped(member, given, memberOf(visit, name));
    }
  } else if (typeof value === "string" || isOpaque(schema)) {
    visitAny(value, visit);
  }
}

function visitAny(value: unknown, visit: Visit): void {
  if (typeof value === "string") {
    const message = visit.fault(value);
    if (message !== undefined) visit.errors.push({ field: visit.field || "body", message });
  } else if (Array.isArray(value)) {
    value.forEach((item, i) => {
      visitAny(item, itemOf(visit, i));
    });
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const message = visit.fault(name);
      // The field is the place of the name, because answers do not repeat names that cannot be stored.
      if (message === undefined) visitAny(member, memberOf(visit, name));
      else
        visit.errors.push({ field: visit.field || "body", message: `has a name that ${message}` });
    }
  }
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

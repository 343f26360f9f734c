import type { TSchema } from "@sinclair/typebox";

/** Any object of an OpenAPI document. */
export type Json = Record<string, unknown>;

/** Leaves out the keywords that only our own validation uses. */
function withoutOwnKeywords(name: string, value: unknown): unknown {
  const isOwn = name === "errorMessage" ? typeof value === "string" : name === "keptAsSent";
  return isOwn ? undefined : value;
}

const plain = new WeakMap<TSchema, Json>();

/**
 * A TypeBox schema without its symbols: plain JSON Schema 2020-12, as in OpenAPI 3.1. The same schema has the
 * same result, because that of problems occurs in every operation.
 */
export function plainSchema(schema: TSchema): Json {
  const known = plain.get(schema) ?? JSON.parse(JSON.stringify(schema, withoutOwnKeywords));
  plain.set(schema, known);
  return known;
}

import type { TSchema } from "@sinclair/typebox";

/** Keywords whose values are data, which may look like schemas. */
const DATA = new Set(["example", "examples", "default", "const", "enum"]);

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

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null;

/**
 * Generators of types take a field with a default for one that is always there, also in a request.
 * So the description has the default instead.
 */
function withDefaultInWords(schema: Json): Json {
  const { default: given, description, ...rest } = schema;
  if (given === undefined || typeof description !== "string") return schema;
  const words = /\bdefault\b/i.test(description)
    ? description
    : `${description} Default: ${JSON.stringify(given)}.`;
  return { ...rest, description: words };
}

/**
 * Replaces every schema that has a title by a reference to a component of that name. So a schema is
 * named where it is declared. Throws if two different schemas have the same title.
 */
export function withNamedSchemas(value: Json): { value: Json; schemas: Json } {
  const byName = new Map<string, Json>();
  /** The results for objects, many of which occur in several places. */
  const results = new Map<Json, unknown>();

  function reference(name: string, schema: Json): Json {
    const known = byName.get(name);
    if (known !== undefined && !Bun.deepEquals(known, schema)) {
      throw new Error(`two schemas of the API have the title ${name}`);
    }
    byName.set(name, schema);
    return { $ref: `#/components/schemas/${name}` };
  }

  const eachMoved = (object: Json): Json =>
    Object.fromEntries(Object.entries(object).map(([name, member]) => [name, moved(member)]));

  function movedObject(object: Json): unknown {
    const copy: Json = {};
    for (const [name, member] of Object.entries(object)) {
      // The names below `properties` are those of fields, whatever they look like.
      if (name === "properties") copy[name] = eachMoved(member as Json);
      else copy[name] = DATA.has(name) ? member : moved(member);
    }
    const { title, ...schema } = withDefaultInWords(copy);
    return typeof title === "string" ? reference(title, schema) : schema;
  }

  function moved(part: unknown): unknown {
    if (Array.isArray(part)) return part.map(moved);
    if (!isJson(part)) return part;
    const known = results.get(part) ?? movedObject(part);
    results.set(part, known);
    return known;
  }

  const replaced = moved(value) as Json;
  const sorted = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
  return { value: replaced, schemas: Object.fromEntries(sorted) };
}

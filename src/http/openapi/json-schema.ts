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

interface Components {
  /** The components made so far, by name. */
  readonly byName: Map<string, Json>;
  /** The references that have replaced objects which occur in many places. */
  readonly replaced: Map<Json, unknown>;
}

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null;

function moved(value: unknown, components: Components): unknown {
  if (Array.isArray(value)) return value.map((item) => moved(item, components));
  if (!isJson(value)) return value;
  const known = components.replaced.get(value) ?? movedObject(value, components);
  components.replaced.set(value, known);
  return known;
}

function movedObject(value: Json, components: Components): unknown {
  const copy: Json = {};
  for (const [name, member] of Object.entries(value)) {
    // The names below `properties` are those of fields, whatever they look like.
    if (name === "properties") copy[name] = movedProperties(member as Json, components);
    else copy[name] = DATA.has(name) ? member : moved(member, components);
  }
  const { title, ...schema } = withDefaultInWords(copy);
  return typeof title === "string" ? reference(title, schema, components) : schema;
}

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

function movedProperties(properties: Json, components: Components): Json {
  const entries = Object.entries(properties);
  return Object.fromEntries(entries.map(([name, schema]) => [name, moved(schema, components)]));
}

function reference(name: string, schema: Json, components: Components): Json {
  const known = components.byName.get(name);
  if (known !== undefined && !Bun.deepEquals(known, schema)) {
    throw new Error(`two schemas of the API have the title ${name}`);
  }
  components.byName.set(name, schema);
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Replaces every schema that has a title by a reference to a component of that name. So a schema is
 * named where it is declared. Throws if two different schemas have the same title.
 */
export function withNamedSchemas(value: Json): { value: Json; schemas: Json } {
  const components: Components = { byName: new Map(), replaced: new Map() };
  const replaced = moved(value, components) as Json;
  const sorted = [...components.byName].sort(([a], [b]) => (a < b ? -1 : 1));
  return { value: replaced, schemas: Object.fromEntries(sorted) };
}

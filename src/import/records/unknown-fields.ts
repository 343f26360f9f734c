import type { TSchema } from "@sinclair/typebox";
import { similarTo } from "../../shared/similar.ts";

/** Receives the path of a field that the schema does not name, such as `chunks.colour`. */
export type OnUnknownField = (field: string) => void;

/**
 * A copy of the value without the fields that its schema does not name, at any depth. An object
 * whose schema names no fields keeps all of them.
 */
export function omitUnknownFields(
  schema: TSchema,
  value: unknown,
  onUnknownField: OnUnknownField,
  path = "",
): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = schema["items"] as TSchema | undefined;
    if (items === undefined) return value;
    return value.map((item) => omitUnknownFields(items, item, onUnknownField, path));
  }
  const properties = schema["properties"] as Record<string, TSchema> | undefined;
  if (properties === undefined) return value;
  const known: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const field = path === "" ? name : `${path}.${name}`;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) onUnknownField(field);
    else known[name] = omitUnknownFields(property, member, onUnknownField, field);
  }
  return known;
}

/** The name of the schema that an unknown field resembles. `field` is a path such as `chunks.colour`. */
export function similarField(schema: TSchema, field: string): string | undefined {
  const names = field.split(".");
  let level: TSchema | undefined = schema;
  for (const name of names.slice(0, -1)) {
    const member: TSchema | undefined = level?.["properties"]?.[name];
    level = member?.["items"] ?? member;
  }
  return similarTo(names.at(-1) ?? "", Object.keys(level?.["properties"] ?? {}));
}

import type { TSchema } from "@sinclair/typebox";

/** Hears the path of a field that no schema names, such as `chunks.colour`. */
export type OnStray = (field: string) => void;

/**
 * The value without the fields that its schema does not name, at any depth. Objects whose names are
 * free keep all of theirs.
 */
export function withoutStray(
  schema: TSchema,
  value: unknown,
  onStray: OnStray,
  path = "",
): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = schema["items"] as TSchema | undefined;
    if (items === undefined) return value;
    return value.map((item) => withoutStray(items, item, onStray, path));
  }
  const properties = schema["properties"] as Record<string, TSchema> | undefined;
  if (properties === undefined) return value;
  const kept: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const field = path === "" ? name : `${path}.${name}`;
    if (Object.hasOwn(properties, name)) {
      kept[name] = withoutStray(properties[name] as TSchema, member, onStray, field);
    } else {
      onStray(field);
    }
  }
  return kept;
}

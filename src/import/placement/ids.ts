/**
 * Ids that follow from natural keys, so that the same record is the same row on every machine and
 * at every import. docs/import-format.md lists the natural keys.
 */
const NAMESPACE = "b0a5a3a1-6f0e-4d2b-9d55-7e55e12a0001";

/** UUIDv5 of a kind, the id of what the name is unique in (or ""), and the name. */
export function derivedId(kind: string, parent: string, name: string): string {
  return Bun.randomUUIDv5(`${kind}\n${parent}\n${name}`, NAMESPACE);
}

/** JSON with sorted keys: the same text for the same value. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
}

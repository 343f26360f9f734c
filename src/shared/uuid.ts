/** The namespace of derived ids. It must never change: stored rows have these ids. */
const NAMESPACE = "b0a5a3a1-6f0e-4d2b-9d55-7e55e12a0001";

/**
 * The UUIDv5 of a natural key, so that the same record has the same id on every machine and in every
 * import. `parent` is the id of the row that `name` is unique in, or "" if it is unique everywhere.
 * docs/import-format.md lists the natural keys.
 */
export function derivedId(kind: string, parent: string, name: string): string {
  return Bun.randomUUIDv5(`${kind}\n${parent}\n${name}`, NAMESPACE);
}

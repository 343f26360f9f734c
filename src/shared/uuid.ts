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

/** The parts that an id is derived from. */
export type IdOrigin = [kind: string, parent: string, name: string];

/** The characters of a UUID up to the half that has the variant. */
const FIRST_HALF = 18;

function withFirstHalf(half: string, [kind, parent, name]: IdOrigin): string {
  return half + derivedId(kind, parent, `${half}\n${name}`).slice(FIRST_HALF);
}

/**
 * An id for the case that another row has the derived one. Nobody can foresee its first half. The second
 * is derived, so that it can be told what the id is of.
 */
export function idAside(...origin: IdOrigin): string {
  return withFirstHalf(crypto.randomUUID().slice(0, FIRST_HALF), origin);
}

/** True when `idAside` has made the id of this origin. */
export function isIdAside(id: string, ...origin: IdOrigin): boolean {
  return id === withFirstHalf(id.slice(0, FIRST_HALF), origin);
}

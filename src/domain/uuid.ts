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
 * An id for the case that another row has the derived one. The first half is random, so that it cannot be foreseen. The
 * second half is derived, so that `isIdAside` can check the origin of the id.
 */
export function idAside(...origin: IdOrigin): string {
  return withFirstHalf(crypto.randomUUID().slice(0, FIRST_HALF), origin);
}

/** True when `idAside` has created the id for this origin. */
export function isIdAside(id: string, ...origin: IdOrigin): boolean {
  return id === withFirstHalf(id.slice(0, FIRST_HALF), origin);
}

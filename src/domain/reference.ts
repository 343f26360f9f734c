import { isUuid } from "./formats.ts";

/** A reference to a row: its id, or its name, such as a slug or a path. */
export type Naming = { readonly id: string } | { readonly name: string };

/**
 * The interpretations of a reference, in the order in which they are tried: an id comes before a name that looks like
 * one. Each needs a query of its own, because a condition with both may find two rows.
 */
export function namings(reference: string): readonly Naming[] {
  const name = { name: reference };
  return isUuid(reference) ? [{ id: reference.toLowerCase() }, name] : [name];
}

/** The row that a reference names: the one that has it as its id, or else as its name. */
export async function findNamed<Row>(
  reference: string,
  find: (naming: Naming) => Promise<Row | undefined>,
): Promise<Row | undefined> {
  for (const naming of namings(reference)) {
    const row = await find(naming);
    if (row !== undefined) return row;
  }
  return undefined;
}

/** A reference that names only this project, even if its slug looks like an id. */
export function referenceTo({ id, slug }: { readonly id: string; readonly slug: string }): string {
  return isUuid(slug) ? id : slug;
}

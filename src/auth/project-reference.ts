import type { PendingQuery, Row } from "postgres";
import type { Queryable } from "../db/client.ts";
import { isStorable, isUuid } from "../domain/formats.ts";
import { REFERENCE_MAX_CHARS } from "../domain/limits.ts";
import { findNamed } from "../domain/reference.ts";

/**
 * Reads the project with this id, or else the project with this slug, even if the caller has no access to it. Every
 * interface uses it. `read` gets the condition on the project `p`, and must not leave out a row to check a right: a
 * caller without access to a project would get another one in its place.
 */
export async function readNamedProject<Found>(
  sql: Queryable,
  reference: string,
  read: (isNamed: PendingQuery<Row[]>) => Promise<Found[]>,
): Promise<Found | undefined> {
  if (reference.length > REFERENCE_MAX_CHARS || !isStorable(reference)) return undefined;
  return await findNamed(reference, async (naming) => {
    const isNamed = "id" in naming ? sql`p.id = ${naming.id}` : sql`p.slug = ${naming.name}`;
    const [row] = await read(isNamed);
    return row;
  });
}

export interface NamedProject {
  readonly id: string;
  readonly slug: string;
}

/** The project that a reference names, without a check of access rights. */
export async function projectNamed(
  sql: Queryable,
  reference: string,
): Promise<NamedProject | undefined> {
  return await readNamedProject(
    sql,
    reference,
    (isNamed) => sql<NamedProject[]>`SELECT p.id, p.slug FROM projects p WHERE ${isNamed}`,
  );
}

/**
 * The ids of the projects that references name, as `projectNamed` finds them, in one query. Unknown ones are left out.
 */
export async function projectIdsOf(
  sql: Queryable,
  references: Iterable<string>,
): Promise<string[]> {
  const all = [...new Set(references)];
  const ids = await sql<{ id: string }[]>`
    SELECT id FROM projects WHERE id = ANY (${all.filter(isUuid)}::uuid[])`;
  const known = new Set(ids.map(({ id }) => id));
  const slugs = all.filter((reference) => !known.has(reference.toLowerCase()));
  if (slugs.length === 0) return [...known];
  const rows = await sql<{ id: string }[]>`SELECT id FROM projects WHERE slug = ANY (${slugs})`;
  return [...new Set([...known, ...rows.map(({ id }) => id)])];
}

import type { Queryable } from "../db/client.ts";
import { Problem } from "../problem/problem.ts";
import { isStorable, isUuid } from "../shared/formats.ts";
import { REFERENCE_MAX_CHARS } from "../shared/limits.ts";
import type { Principal } from "./principal.ts";

/** The id that a project reference may mean, or null when it can only be a slug. */
export function referenceId(reference: string): string | null {
  return isUuid(reference) ? reference.toLowerCase() : null;
}

/**
 * The id of the project that a reference (id or slug) names for this caller: a member of it, with
 * a credential that reaches it. Throws `project-not-found` otherwise, whatever the reason. An id
 * wins over a slug that happens to look like one.
 */
export async function findProject(
  sql: Queryable,
  principal: Principal,
  reference: string,
): Promise<string> {
  if (reference.length > REFERENCE_MAX_CHARS || !isStorable(reference))
    throw new Problem("project-not-found");
  const id = referenceId(reference);
  const [row] = await sql<{ id: string }[]>`
    SELECT p.id FROM projects p
    JOIN memberships m ON m.project_id = p.id AND m.user_id = ${principal.userId}
    WHERE (p.id = ${id} OR p.slug = ${reference})
      AND (${principal.projectId}::uuid IS NULL OR p.id = ${principal.projectId})
    ORDER BY (p.id = ${id}) DESC NULLS LAST LIMIT 1`;
  if (row === undefined) throw new Problem("project-not-found");
  return row.id;
}

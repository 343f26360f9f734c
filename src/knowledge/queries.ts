import type { Queryable } from "../db/client.ts";
import { Problem } from "../problem/problem.ts";
import { isStorable, isUuid } from "../shared/formats.ts";
import type { LookupScope } from "./engine.ts";
import type { LookupTarget } from "./schema.ts";

interface EnvironmentRow {
  id: string;
  active_release_id: string | null;
}

async function environmentScope(
  sql: Queryable,
  projectId: string,
  name: string | null,
): Promise<LookupScope> {
  // Without a name: `production`, else the first by name.
  const [row] = await sql<EnvironmentRow[]>`
    SELECT id, active_release_id FROM environments
    WHERE project_id = ${projectId} AND (${name}::text IS NULL OR name = ${name})
    ORDER BY (name = 'production') DESC, name LIMIT 1`;
  if (row === undefined) throw new Problem("environment-not-found");
  return row.active_release_id === null
    ? { projectId, id: row.id, kind: "environment" }
    : { projectId, id: row.active_release_id, kind: "release" };
}

async function releaseScope(sql: Queryable, projectId: string, name: string): Promise<LookupScope> {
  const id = isUuid(name) ? name.toLowerCase() : null;
  const [row] = await sql<{ id: string }[]>`
    SELECT id FROM releases
    WHERE project_id = ${projectId} AND (name = ${name} OR id = ${id})
    ORDER BY (id = ${id}) DESC NULLS LAST LIMIT 1`;
  if (row === undefined) throw new Problem("release-not-found");
  return { projectId, id: row.id, kind: "release" };
}

/**
 * The scope that a target means in a project that the caller may read. Throws
 * `environment-not-found` or `release-not-found`.
 */
export async function findLookupScope(
  sql: Queryable,
  projectId: string,
  target: LookupTarget | null,
): Promise<LookupScope> {
  if (target !== null && "release" in target) {
    // A name that cannot be held names nothing.
    if (!isStorable(target.release)) throw new Problem("release-not-found");
    return await releaseScope(sql, projectId, target.release);
  }
  const name = target?.environment ?? null;
  if (name !== null && !isStorable(name)) throw new Problem("environment-not-found");
  return await environmentScope(sql, projectId, name);
}

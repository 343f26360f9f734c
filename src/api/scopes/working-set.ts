import type { Queryable } from "../../db/client.ts";
import { Problem } from "../../problem/problem.ts";

/** An environment whose working set is changed. */
export interface WorkingSet {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
  /** The name of the release that the environment serves instead; null when it serves the working set. */
  readonly serves: string | null;
}

/** The environment with this name, or the default one of the project. Throws `environment-not-found`. */
export async function findWorkingSet(
  sql: Queryable,
  projectId: string,
  name: string | undefined,
): Promise<WorkingSet> {
  const [row] = await sql<{ id: string; name: string; serves: string | null }[]>`
    SELECT e.id, e.name, r.name AS serves
    FROM environments e LEFT JOIN releases r ON r.id = e.active_release_id
    WHERE e.project_id = ${projectId} ${name === undefined ? sql`` : sql`AND e.name = ${name}`}
    ORDER BY (e.name = 'production') DESC, e.name LIMIT 1`;
  if (row === undefined) throw new Problem("environment-not-found");
  return { projectId, ...row };
}

import type { Queryable } from "../../db/client.ts";
import { Problem } from "../../problem/problem.ts";

/** An environment whose working set is changed. */
export interface WorkingSet {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
}

/** The environment with this name, or the default one of the project. Throws `environment-not-found`. */
export async function findWorkingSet(
  sql: Queryable,
  projectId: string,
  name: string | undefined,
): Promise<WorkingSet> {
  const [row] = await sql<{ id: string; name: string }[]>`
    SELECT id, name FROM environments WHERE project_id = ${projectId}
      ${name === undefined ? sql`` : sql`AND name = ${name}`}
    ORDER BY (name = 'production') DESC, name LIMIT 1`;
  if (row === undefined) throw new Problem("environment-not-found");
  return { projectId, ...row };
}

import { OPERATOR, transactionAs } from "../../audit/actor.ts";
import { noteChange } from "../../audit/changes.ts";
import type { Queryable, Sql } from "../../db/client.ts";
import { holdProject } from "../../db/project-lock.ts";

/** What a quota can limit. */
export const QUOTAS = ["files", "bytes", "chunks"] as const;
type Quota = (typeof QUOTAS)[number];

/** How much of something a project stores, all versions included, and may store. */
export interface QuotaState {
  readonly quota: Quota;
  readonly used: number;
  /** Null without a limit. */
  readonly allowed: number | null;
}

export async function readQuotas(sql: Queryable, projectId: string): Promise<QuotaState[]> {
  return await sql<QuotaState[]>`
    SELECT v.quota, v.used::float8 AS used, v.allowed::float8 AS allowed
    FROM projects p, project_usage(p.id) u,
      LATERAL (VALUES ('files', u.files, p.max_files), ('bytes', u.bytes, p.max_bytes),
        ('chunks', u.chunks, p.max_chunks)) AS v (quota, used, allowed)
    WHERE p.id = ${projectId}`;
}

/** Sets the limits that are given; null ends one. What is stored already stays. */
export async function setQuotas(
  sql: Sql,
  projectId: string,
  limits: Readonly<Partial<Record<Quota, number | null>>>,
): Promise<void> {
  await transactionAs(sql, OPERATOR, async (tx) => {
    await holdProject(tx, projectId);
    for (const quota of QUOTAS) {
      const limit = limits[quota];
      if (limit === undefined) continue;
      const column = `max_${quota}`;
      await tx`UPDATE projects SET ${tx(column)} = ${limit} WHERE id = ${projectId}`;
    }
    await noteChange(tx, "project.changed", projectId, { quota: limits });
  });
}

import { OPERATOR, transactionAs } from "../../auth/audit/actor.ts";
import type { Queryable, Sql } from "../../db/client.ts";
import { holdProject } from "../../db/project-lock.ts";

/** Units that a quota limits. */
export const QUOTAS = ["files", "bytes", "chunks"] as const;
type Quota = (typeof QUOTAS)[number];
/** A number of files, bytes or chunks; `default` for the configured limit of the service. */
export type Limit = number | "none" | "default";

/** The usage of a project in one unit, all versions included, and its limit. */
export interface QuotaState {
  readonly quota: Quota;
  readonly used: number;
  /** Null without a limit. */
  readonly allowed: number | null;
}

/** The stored limit of an unlimited quota, which overrides the defaults. */
const ANY_AMOUNT = 2n ** 63n - 1n;

export async function readQuotas(sql: Queryable, projectId: string): Promise<QuotaState[]> {
  return await sql<QuotaState[]>`
    SELECT v.quota, v.used::float8 AS used, nullif(v.allowed, ${String(ANY_AMOUNT)}::bigint)::float8 AS allowed
    FROM project_usage(${projectId}) u, project_limits(${projectId}) p,
      LATERAL (VALUES ('files', u.files, p.files), ('bytes', u.bytes, p.bytes),
        ('chunks', u.chunks, p.chunks)) AS v (quota, used, allowed)`;
}

function storedLimit(limit: Limit): string | null {
  if (limit === "default") return null;
  return String(limit === "none" ? ANY_AMOUNT : limit);
}

/**
 * Sets the limits that are given: `none` for any amount, `default` for the default. Stored data above a limit stays.
 */
export async function setQuotas(
  sql: Sql,
  projectId: string,
  limits: Readonly<Partial<Record<Quota, Limit>>>,
): Promise<void> {
  await transactionAs(sql, OPERATOR, async (tx) => {
    await holdProject(tx, projectId);
    const columns = QUOTAS.flatMap((quota) => {
      const limit = limits[quota];
      return limit === undefined ? [] : [[`max_${quota}`, storedLimit(limit)]];
    });
    await tx`UPDATE projects SET ${tx(Object.fromEntries(columns))} WHERE id = ${projectId}`;
  });
}

/** Default limits of a project, and of all projects of an owner together; null for no limit. */
type QuotaDefaults = Readonly<Partial<Record<Quota | `owner_${Quota}`, number | null>>>;

/** Stores the defaults of all processes. Without defaults, writes skip the comparison with a limit. */
export async function writeQuotaDefaults(sql: Sql, defaults: QuotaDefaults): Promise<void> {
  if (Object.values(defaults).every((limit) => limit === null)) {
    await sql`DELETE FROM quota_defaults`;
    return;
  }
  const { files = null, bytes = null, chunks = null } = defaults;
  const { owner_files = null, owner_bytes = null, owner_chunks = null } = defaults;
  await sql`
    INSERT INTO quota_defaults (files, bytes, chunks, owner_files, owner_bytes, owner_chunks)
    VALUES (${files}, ${bytes}, ${chunks}, ${owner_files}, ${owner_bytes}, ${owner_chunks})
    ON CONFLICT (is_only) DO UPDATE SET files = excluded.files, bytes = excluded.bytes,
      chunks = excluded.chunks, owner_files = excluded.owner_files,
      owner_bytes = excluded.owner_bytes, owner_chunks = excluded.owner_chunks`;
}

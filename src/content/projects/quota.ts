import { OPERATOR, transactionAs } from "../../auth/audit/actor.ts";
import type { Queryable, Sql } from "../../db/client.ts";
import { holdProject } from "../../db/project-lock.ts";

/** Units that a quota limits. */
export const QUOTAS = ["files", "bytes", "chunks"] as const;
type Quota = (typeof QUOTAS)[number];
/** A number of files, bytes or chunks; `default` for the default limit of the service. */
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

/** Default limits: of a project without its own, and of all projects of an owner together. */
export const DEFAULT_QUOTAS = ["bytes", "owner_bytes"] as const;
type DefaultQuota = (typeof DEFAULT_QUOTAS)[number];

export interface QuotaDefault {
  readonly quota: DefaultQuota;
  /** Null without a limit. */
  readonly allowed: number | null;
}

export async function readQuotaDefaults(sql: Queryable): Promise<QuotaDefault[]> {
  const [row] = await sql<Record<DefaultQuota, number | null>[]>`
    SELECT bytes::float8 AS bytes, owner_bytes::float8 AS owner_bytes FROM quota_defaults`;
  return DEFAULT_QUOTAS.map((quota) => ({ quota, allowed: row?.[quota] ?? null }));
}

/** Sets the default limits that are given, for all processes; null for no limit. Without limits, writes skip the comparison. */
export async function setQuotaDefaults(
  sql: Queryable,
  limits: Readonly<Partial<Record<Quota | `owner_${Quota}`, number | null>>>,
): Promise<void> {
  await sql`
    INSERT INTO quota_defaults ${sql(limits)} ON CONFLICT (is_only) DO UPDATE SET ${sql(limits)}`;
  await sql`
    DELETE FROM quota_defaults
    WHERE num_nonnulls(files, bytes, chunks, owner_files, owner_bytes, owner_chunks) = 0`;
}

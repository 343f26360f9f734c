import type { Queryable } from "../db/client.ts";
import type { PageRange } from "../domain/page-info.ts";
import type { Scope } from "../domain/scope.ts";
import { versionsOf } from "./scopes/working-set.ts";

/** Numbers of files that differ between two scopes. */
export interface ChangeCounts {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
}

/** A file that differs between two scopes. */
export interface ChangeRow {
  readonly path: string;
  readonly id: string;
  readonly title: string;
  /** Null for a file that only the other scope has. */
  readonly base_version_id: string | null;
  readonly version_id: string | null;
}

/** The place of a change in the list. */
export type ChangePosition = [path: string];

type CountedRow = ChangeCounts & { readonly [K in keyof ChangeRow]: ChangeRow[K] | null };

/**
 * Counts the differences between two scopes, and reads the first differences of a range in order of path, or the last
 * ones in reverse order before a path. Only versions that one of the scopes lacks are looked up, each by its id: a join
 * of many would read the table of all projects.
 */
export async function readChanges(
  sql: Queryable,
  base: Scope,
  scope: Scope,
  { after, before, limit }: PageRange<ChangePosition>,
): Promise<ChangeCounts & { rows: ChangeRow[] }> {
  const order = before === undefined ? sql`ASC` : sql`DESC`;
  const rows = await sql<CountedRow[]>`
    WITH differing AS (
      SELECT version, bool_and(of_base) AS of_base FROM (
        SELECT version, true AS of_base FROM (${versionsOf(sql, base)}) b (version)
        UNION ALL SELECT version, false FROM (${versionsOf(sql, scope)}) s (version)) v
      GROUP BY version HAVING count(*) = 1
    ), changes AS MATERIALIZED (
      SELECT file_id, (array_agg(version) FILTER (WHERE of_base))[1] AS base_version_id,
        (array_agg(version) FILTER (WHERE NOT of_base))[1] AS version_id
      FROM (SELECT (SELECT file_id FROM file_versions WHERE id = version), version, of_base
        FROM differing) d
      GROUP BY file_id
    ), counts AS (
      SELECT count(*) FILTER (WHERE base_version_id IS NULL)::integer AS added,
        count(*) FILTER (WHERE version_id IS NULL)::integer AS removed,
        count(*) FILTER (WHERE base_version_id IS NOT NULL AND version_id IS NOT NULL)::integer
          AS changed
      FROM changes
    ), page AS (
      SELECT path, file_id AS id, base_version_id, version_id FROM (
        SELECT (SELECT path FROM files WHERE id = file_id) AS path, * FROM changes) c
      WHERE true ${after === undefined ? sql`` : sql`AND path > ${after[0]}`}
        ${before === undefined ? sql`` : sql`AND path < ${before[0]}`}
      ORDER BY path ${order} LIMIT ${limit}
    )
    SELECT counts.*, page.*, v.title
    FROM counts LEFT JOIN page ON true
      LEFT JOIN LATERAL (SELECT title FROM file_versions
        WHERE id = coalesce(page.version_id, page.base_version_id) LIMIT 1) v ON true
    ORDER BY path ${order}`;
  // Without differences on the page there is one row, of counts alone.
  const { added, removed, changed } = rows[0] as CountedRow;
  const found = rows.flatMap(({ added: _, removed: _r, changed: _c, ...row }) =>
    row.path === null ? [] : [row as ChangeRow],
  );
  return { added, removed, changed, rows: found };
}

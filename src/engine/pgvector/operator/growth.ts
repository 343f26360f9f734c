import type { Sql } from "../../../db/client.ts";
import { LEADER_LOCK, SCHEMA } from "../tables.ts";

/** A copy of a project's vectors, as an operator sees it. */
interface CopyState {
  readonly id: string;
  readonly projectId: string;
  readonly state: "serving" | "filling" | "retired";
  readonly placements: number;
  readonly vectors: number;
  /** Every table has its graph. */
  readonly graphs: boolean;
}

/** The copies of a project while its number of placements changes. */
export interface Growth {
  readonly serving: CopyState | undefined;
  readonly filling: CopyState | undefined;
  /** The number of placements that an operator has last requested; undefined without a request. */
  readonly wanted: number | undefined;
}

/** True when a node of this version has created the schema in the database. */
export async function hasSchema(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    SELECT to_regclass(${`${SCHEMA}.copies`}) IS NOT NULL AS found`;
  return row?.found === true;
}

/** True while a node writes vectors. */
export async function hasLeader(sql: Sql): Promise<boolean> {
  const rows = await sql`
    SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid = ${LEADER_LOCK[0]} AND objid = ${LEADER_LOCK[1]}`;
  return rows.length > 0;
}

/** The copies of all projects, or of one. */
export async function readCopies(sql: Sql, projectId?: string): Promise<CopyState[]> {
  const only = projectId === undefined ? sql`` : sql`WHERE c.project_id = ${projectId}`;
  return await sql<CopyState[]>`
    SELECT c.id, c.project_id AS "projectId", c.state, cardinality(c.placements) AS placements,
      coalesce(sum(t.rows), 0)::float8 AS vectors, coalesce(bool_and(t.graph), true) AS graphs
    FROM ${sql(SCHEMA)}.copies c LEFT JOIN ${sql(SCHEMA)}.tables t ON t.copy_id = c.id
    ${only} GROUP BY c.id ORDER BY c.project_id, c.state DESC`;
}

export async function readGrowth(sql: Sql, projectId: string): Promise<Growth> {
  const copies = await readCopies(sql, projectId);
  const [row] = await sql<{ placements: number }[]>`
    SELECT placements FROM ${sql(SCHEMA)}.wanted_placements WHERE project_id = ${projectId}`;
  return {
    serving: copies.find(({ state }) => state === "serving"),
    filling: copies.find(({ state }) => state === "filling"),
    wanted: row?.placements,
  };
}

/** Asks for another number of placements. The leader builds a copy, and lets searches read it. */
export async function wantPlacements(sql: Sql, projectId: string, count: number): Promise<void> {
  await sql`
    INSERT INTO ${sql(SCHEMA)}.wanted_placements (project_id, placements)
    VALUES (${projectId}, ${count})
    ON CONFLICT (project_id) DO UPDATE SET placements = excluded.placements`;
}

import type { Queryable } from "../../db/client.ts";
import { DIMENSIONS } from "../../shared/limits.ts";
import { floatsOf } from "../../shared/vector.ts";
import { SCHEMA } from "./tables.ts";

/** Centres in the memory of a node, of up to 16 KiB each. */
const VECTOR_CENTRES_CACHED = 1_024;

/** What a search of a scope has to know. */
export interface ScopeContents {
  readonly placements: readonly number[];
  /** The sequence number that reads of the scope name. */
  readonly applied: number;
  /** Chunks of the scope that have the searched dimension. */
  readonly chunks: number;
  /** Chunks of the whole project that have it. */
  readonly rows: number;
  /** The centre of the codes; null until every row has a code. */
  readonly centre: Float32Array | null;
  /** The graph over the codes is complete. */
  readonly graph: boolean;
}

interface ContentsRow {
  readonly placements: number[];
  readonly applied: string;
  readonly chunks: string | null;
  readonly rows: string | null;
  readonly centre_id: string | null;
  readonly graph: boolean | null;
}

/** Centres by their id. They never change, and are too long to be read with every search. */
export class Centres {
  readonly #known = new Map<string, Float32Array>();

  async get(sql: Queryable, id: string): Promise<Float32Array | null> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const [row] = await sql<{ centre: Uint8Array }[]>`
      SELECT centre FROM ${sql(SCHEMA)}.tables WHERE centre_id = ${id}`;
    if (row === undefined) return null;
    const centre = floatsOf(row.centre);
    if (this.#known.size >= VECTOR_CENTRES_CACHED) this.#known.clear();
    this.#known.set(id, centre);
    return centre;
  }
}

/** The contents of a scope; undefined when no change of it has been applied yet. */
export async function readContents(
  sql: Queryable,
  centres: Centres,
  scope: { readonly projectId: string; readonly id: string },
  dimension: number,
): Promise<ScopeContents | undefined> {
  const slot = DIMENSIONS.indexOf(dimension as (typeof DIMENSIONS)[number]) + 1;
  const [row] = await sql<ContentsRow[]>`
    SELECT p.placements, s.applied, s.sizes[${slot}::int] AS chunks, t.rows,
      CASE WHEN t.coded THEN t.centre_id END AS centre_id, t.graph
    FROM ${sql(SCHEMA)}.scopes s JOIN ${sql(SCHEMA)}.projects p ON p.id = s.project_id
    LEFT JOIN ${sql(SCHEMA)}.tables t ON t.project_id = p.id AND t.dimension = ${dimension}
    WHERE s.id = ${scope.id} AND s.project_id = ${scope.projectId}`;
  if (row === undefined) return undefined;
  const centre = row.centre_id === null ? null : await centres.get(sql, row.centre_id);
  return {
    placements: row.placements,
    applied: Number(row.applied),
    chunks: Number(row.chunks ?? 0),
    rows: Number(row.rows ?? 0),
    centre,
    graph: row.graph === true,
  };
}

/** How far the engine's database has come. */
interface VectorState {
  readonly seq: number;
  readonly complete: boolean;
}

export async function readState(sql: Queryable): Promise<VectorState> {
  const [row] = await sql<{ seq: string; complete: boolean }[]>`
    SELECT seq, complete FROM ${sql(SCHEMA)}.state`;
  return { seq: Number(row?.seq ?? 0), complete: row?.complete === true };
}

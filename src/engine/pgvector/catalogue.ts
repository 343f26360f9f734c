import type { Queryable, Sql } from "../../db/client.ts";
import { DIMENSIONS, VECTOR_APPLIED_POLL_MS } from "../../domain/limits.ts";
import { floatsOf } from "../../domain/vector.ts";
import { SingleFlight } from "../../ops/single-flight.ts";
import { SCHEMA } from "./tables.ts";

/** Thresholds in the memory of a node, of up to 48 KiB each. */
const VECTOR_THRESHOLDS_CACHED = 512;

/** The state of a scope from which a search chooses its plan and statement. */
export interface ScopeContents {
  /** The copy of the project that searches read. */
  readonly copyId: string;
  readonly placements: readonly number[];
  /** The sequence number at which searches read the scope. */
  readonly applied: number;
  /** Chunks of the scope that have the searched dimension. */
  readonly chunks: number;
  /** Chunks of the whole project that have that dimension. */
  readonly rows: number;
  /** The thresholds of the codes; null until every row has a code. */
  readonly thresholds: Float32Array | null;
  /** The graph over the codes is complete. */
  readonly graph: boolean;
  /** The number of candidates for CALIBRATED_LIMITS; null until they have been measured. */
  readonly candidates: readonly number[] | null;
}

interface ContentsRow {
  readonly copy_id: string;
  readonly placements: number[];
  readonly applied: string;
  readonly chunks: string | null;
  readonly rows: string | null;
  readonly thresholds_id: string | null;
  readonly graph: boolean | null;
  readonly candidates: number[] | null;
}

/** Thresholds by their id. They never change, and are too long to be read with every search. */
export class Thresholds {
  readonly #known = new Map<string, Float32Array>();

  async get(sql: Queryable, id: string): Promise<Float32Array | null> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const [row] = await sql<{ thresholds: Uint8Array }[]>`
      SELECT thresholds FROM ${sql(SCHEMA)}.tables WHERE thresholds_id = ${id}`;
    if (row === undefined) return null;
    const thresholds = floatsOf(row.thresholds);
    if (this.#known.size >= VECTOR_THRESHOLDS_CACHED) this.#known.clear();
    this.#known.set(id, thresholds);
    return thresholds;
  }
}

/** The contents of a scope; undefined when no change of it has been applied yet. */
export async function readContents(
  sql: Queryable,
  known: Thresholds,
  scope: { readonly projectId: string; readonly id: string },
  dimension: number,
): Promise<ScopeContents | undefined> {
  const slot = DIMENSIONS.indexOf(dimension as (typeof DIMENSIONS)[number]) + 1;
  const [row] = await sql<ContentsRow[]>`
    SELECT p.id AS copy_id, p.placements, s.applied, s.sizes[${slot}::int] AS chunks, t.rows,
      CASE WHEN t.coded THEN t.thresholds_id END AS thresholds_id, t.graph, t.candidates
    FROM ${sql(SCHEMA)}.copies p JOIN ${sql(SCHEMA)}.scopes s ON s.copy_id = p.id
    LEFT JOIN ${sql(SCHEMA)}.tables t ON t.copy_id = p.id AND t.dimension = ${dimension}
    WHERE p.project_id = ${scope.projectId} AND p.state = 'serving' AND s.id = ${scope.id}`;
  if (row === undefined) return undefined;
  const thresholds = row.thresholds_id === null ? null : await known.get(sql, row.thresholds_id);
  return {
    copyId: row.copy_id,
    placements: row.placements,
    applied: Number(row.applied),
    chunks: Number(row.chunks ?? 0),
    rows: Number(row.rows ?? 0),
    thresholds,
    graph: row.graph === true,
    candidates: row.candidates,
  };
}

interface TableRef {
  readonly projectId: string;
  readonly dimension: number;
}

/** The copy of a project that searches read, as a part of a statement. */
const servingCopy = (sql: Queryable, projectId: string) =>
  sql`(SELECT id FROM ${sql(SCHEMA)}.copies WHERE project_id = ${projectId} AND state = 'serving')`;

/** Notes the recall of live searches of a table. */
export async function noteRecall(
  sql: Queryable,
  { projectId, dimension }: TableRef,
  recall: number,
  samples: number,
): Promise<void> {
  await sql`
    UPDATE ${sql(SCHEMA)}.tables SET recall = ${recall}, recall_samples = ${samples}
    WHERE dimension = ${dimension} AND copy_id = ${servingCopy(sql, projectId)}`;
}

/** Lets the leader give searches of a table more candidates. */
export async function recalibrate(
  sql: Queryable,
  { projectId, dimension }: TableRef,
): Promise<void> {
  await sql`
    UPDATE ${sql(SCHEMA)}.tables SET calibrated_rows = NULL
    WHERE dimension = ${dimension} AND copy_id = ${servingCopy(sql, projectId)}`;
}

/** The position of the engine's database in the change log. */
interface VectorState {
  readonly seq: number;
  readonly complete: boolean;
}

export async function readState(sql: Queryable): Promise<VectorState> {
  const [row] = await sql<{ seq: string; complete: boolean }[]>`
    SELECT seq, complete FROM ${sql(SCHEMA)}.state`;
  return { seq: Number(row?.seq ?? 0), complete: row?.complete === true };
}

/** The changes that the engine's database has applied. Concurrent callers share a query. */
export class AppliedVectors {
  readonly #state: SingleFlight<Awaited<ReturnType<typeof readState>>>;

  constructor(sql: Sql) {
    this.#state = new SingleFlight(() => readState(sql));
  }

  /** True if searches see all changes up to this one. Rejects when the database does not answer. */
  async has(seq: number): Promise<boolean> {
    const state = await this.#state.run();
    return state.complete && state.seq >= seq;
  }

  /** Resolves with true once `has` returns true, or with false on an abort of the signal. */
  async waitFor(seq: number, signal: AbortSignal): Promise<boolean> {
    while (!(await this.has(seq).catch(() => false))) {
      if (signal.aborted) return false;
      await Bun.sleep(VECTOR_APPLIED_POLL_MS);
    }
    return true;
  }
}

import {
  SEARCH_LIMIT_MAX,
  VECTOR_CANDIDATES_PER_HIT,
  VECTOR_GRAPH_STEPS_MAX,
} from "../../domain/limits.ts";
import type { ScopeContents } from "./catalogue.ts";
import { codeLength } from "./codes.ts";
import type { CopyTables } from "./tables.ts";

const VECTOR_CANDIDATES_MIN = 400;
/**
 * The database's distances have single precision. Hits whose distance exceeds that of the last wanted one
 * by less than this error are scored again, at most VECTOR_RESCORE_MAX of them.
 */
const VECTOR_DISTANCE_ERROR = 4e-6;
const VECTOR_RESCORE_MAX = 1_000;
/** The same for candidates. The elements of two unit vectors are rounded to 11 bits, so each distance errs by 2 ** -10. */
const VECTOR_HALF_ERROR = 2.1e-3;

/**
 * The CPU time of a candidate of the graph, relative to comparing one more code of a scan. Measured: 17 to 30 among
 * 20,000 vectors of 768 dimensions, 13 to 28 among 50,000 of 1,536, 28 to 33 among 200,000 and 11 to 18 among 1,000,000
 * of 768.
 */
const VECTOR_GRAPH_STEP_COST = 24;

/**
 * `hnsw.ef_search`. A scan that has not found enough chunks of the scope continues beyond it, which costs nearly as
 * much again. The value therefore exceeds the need of most searches of a whole table.
 */
export const VECTOR_GRAPH_EF = 120;

/** How a scope is searched: every vector, every code and then vectors, or the graph and then vectors. */
export type VectorPlan = "exact" | "scan" | "graph";

/**
 * Maximum number of chunks that the first pages of a retrieval find by vector. Facets count the files of these chunks.
 */
export const VECTOR_RETRIEVED_OFTEN = 1_000;
/** The same for all pages. With their vectors the chunks take some 50 MB, or 200 MB with 4,096 dimensions. */
export const VECTOR_RETRIEVED_MAX = 10_000;

/** The limits of searches for which the candidates of a table are measured. */
export const CALIBRATED_LIMITS = [10, SEARCH_LIMIT_MAX] as const;
/** Statements exist for these limits only, because connections keep their plans. */
const STATEMENT_LIMITS = [
  10,
  30,
  SEARCH_LIMIT_MAX,
  VECTOR_RETRIEVED_OFTEN,
  VECTOR_RETRIEVED_MAX,
] as const;

/** The next limit for which there is a statement. */
export function statementLimit(limit: number): number {
  return STATEMENT_LIMITS.find((each) => each >= limit) ?? limit;
}

/**
 * The number of nearest codes whose elements are compared.
 * @param measured the candidates that searches with CALIBRATED_LIMITS need; null until they have been measured
 */
export function candidatesFor(limit: number, measured: readonly number[] | null): number {
  const most = Math.max(VECTOR_CANDIDATES_MIN, limit * VECTOR_CANDIDATES_PER_HIT);
  const [few, many] = CALIBRATED_LIMITS;
  const [forFew, forMany] = measured ?? [];
  if (forFew === undefined || forMany === undefined) return most;
  const share = Math.max(0, (limit - few) / (many - few));
  const expected = Math.ceil(forFew + share * Math.max(0, forMany - forFew));
  // A caller takes fewer hits than its limit for all hits of the scope.
  return Math.min(most, Math.max(expected, limit));
}

/**
 * Chooses by the size of the scope and the expected cost. In a graph that holds many more chunks than the scope, most
 * steps lead to chunks of other scopes, so a search takes proportionally more steps.
 */
export function planFor(contents: ScopeContents, limit: number): VectorPlan {
  const { thresholds, chunks, rows, graph, placements } = contents;
  // A scan would rescore all chunks of a small scope anyway. An exact search also counts all that reach the threshold.
  if (thresholds === null || chunks <= candidatesFor(limit, null)) return "exact";
  const candidates = candidatesFor(limit, contents.candidates);
  const steps = Math.max(VECTOR_GRAPH_EF, candidates * (rows / chunks));
  if (!graph || steps > VECTOR_GRAPH_STEPS_MAX) return "scan";
  return steps * VECTOR_GRAPH_STEP_COST < chunks / placements.length ? "graph" : "scan";
}

interface StatementParts {
  readonly tables: CopyTables;
  readonly placement: number;
  readonly dimension: number;
  /** One of STATEMENT_LIMITS. */
  readonly limit: number;
  readonly plan: VectorPlan;
  /** The number of chunks that the second stage compares. */
  readonly candidates: number;
  /** True when two more parameters follow: the versions that a filter matches, and single chunks. */
  readonly filtered: boolean;
}

type ScopeParts = Omit<StatementParts, "limit" | "plan" | "candidates">;

/** The condition of a filter, with its parameters from this number on. */
const filterOf = (filtered: boolean, first: number) =>
  filtered
    ? ` AND (c.file_version_id = ANY($${first}::uuid[]) OR c.chunk_id = ANY($${first + 1}::uuid[]))`
    : "";

/** The scope's chunks in a placement. Parameters: scope, sequence number. */
function scopeOf({ tables, placement, dimension }: ScopeParts) {
  const held = `s.placement = ${placement} AND s.scope_id = $1 AND s.from_seq <= $2 AND s.to_seq > $2`;
  const joined = `FROM ${tables.scopes} s JOIN ${tables.chunks(dimension)} c
      ON c.placement = s.placement AND c.file_version_id = s.file_version_id WHERE ${held}`;
  return { held, joined };
}

/**
 * Compares chunks. Parameters: scope, sequence number, the vector in the text form that the plan needs, and the
 * code unless all vectors are compared.
 */
function compared(parts: StatementParts): string {
  const { tables, placement, dimension, plan, filtered, limit } = parts;
  const chunks = tables.chunks(dimension);
  const { held, joined } = scopeOf(parts);
  const filter = filterOf(filtered, plan === "exact" ? 4 : 5);
  const columns = "c.chunk_id, c.rendered, c.embedding";
  if (plan === "exact") {
    return `SELECT ${columns}, c.embedding <=> $3::vector(${dimension}) AS distance ${joined}${filter}
      ORDER BY distance, chunk_id LIMIT ${limit + VECTOR_RESCORE_MAX}`;
  }
  const half = `${columns}, c.half <#> $3::halfvec(${dimension}) AS distance`;
  const order = `c.code <~> $4::bit(${codeLength(dimension)})`;
  if (plan === "graph") {
    // The condition is a subquery for each row: a join would read all rows instead of the graph.
    return `SELECT ${half} FROM ${chunks} c WHERE c.placement = ${placement}
      AND (SELECT true FROM ${tables.scopes} s WHERE ${held} AND s.file_version_id = c.file_version_id)${filter}
      ORDER BY ${order} LIMIT ${parts.candidates}`;
  }
  // The sum keeps the planner from the graph, which may end before it has found enough of a small scope. Sorting
  // places of rows instead of their columns leaves most elements unread.
  return `SELECT ${half} FROM ${chunks} c WHERE c.placement = ${placement} AND c.ctid = ANY(ARRAY(
      SELECT c.ctid ${joined}${filter} ORDER BY (${order}) + 0 LIMIT ${parts.candidates}))`;
}

/**
 * The statement that finds the best chunks of one placement, and those that may be as good: its distances have less
 * precision than the scores by which the caller orders. Limits and placements are literals, because the planner then
 * knows them.
 */
export function searchStatement(parts: StatementParts): string {
  const error = parts.plan === "exact" ? VECTOR_DISTANCE_ERROR : VECTOR_HALF_ERROR;
  return `WITH compared AS MATERIALIZED (${compared(parts)}),
    last AS (SELECT distance FROM compared ORDER BY distance OFFSET ${parts.limit - 1} LIMIT 1)
    SELECT chunk_id, rendered, vector_send(embedding) AS embedding FROM compared
    WHERE distance <= coalesce((SELECT distance FROM last), 2) + ${error}`;
}

/**
 * The statement that counts the chunks of one placement up to a distance. Distances have single precision,
 * so the vectors of chunks near the bound are returned with their numbers, and the caller compares them.
 * Parameters: scope, sequence number, vector, distance, and those of a filter.
 */
export function countStatement(parts: ScopeParts): string {
  return `WITH scored AS MATERIALIZED (
      SELECT c.embedding, c.embedding <=> $3::vector(${parts.dimension}) AS distance
      ${scopeOf(parts).joined}${filterOf(parts.filtered, 5)})
    SELECT CASE WHEN distance > $4::float8 - ${VECTOR_DISTANCE_ERROR} THEN vector_send(embedding) END
      AS embedding, count(*)::integer AS chunks
    FROM scored WHERE distance <= $4::float8 + ${VECTOR_DISTANCE_ERROR} GROUP BY 1`;
}

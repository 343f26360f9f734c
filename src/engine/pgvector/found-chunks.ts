import { encoded, type OwnedBytes } from "../../../native/owned-bytes.ts";
import { type Sql, withWriteDeadline } from "../../db/client.ts";
import { baseOf, type Scope } from "../../domain/scope.ts";
import type { ScopeContents } from "./catalogue.ts";
import { codeOf, codeText, unitText, vectorOfBytes, vectorText } from "./codes.ts";
import type { FilterMembers } from "./filter-members.ts";
import {
  candidatesFor,
  countStatement,
  searchStatement,
  statementLimit,
  type VectorPlan,
} from "./search-statement.ts";
import { tablesOf } from "./tables.ts";

/** Elements that are added up apart, as the kernels of the native core do. */
const LANES = 8;
/** Below 1, the scores that the rounding of sums gives to a vector's cosine with itself. */
const SCORE_ROUNDING = 1e-14;

export interface FoundChunk {
  readonly id: string;
  /** Its JSON text in answers. */
  readonly rendered: string;
  readonly vector: Float32Array;
  /** The cosine in double precision. */
  readonly score: number;
}

interface VectorSearch {
  readonly scope: Scope;
  readonly contents: ScopeContents;
  readonly plan: VectorPlan;
  readonly vector: Float32Array;
  readonly limit: number;
  /** The chunks of the scope that match the filter; undefined without one. */
  readonly members: FilterMembers | undefined;
}

/** The ids of a filter's members, as parameters of statements. */
const listsOf = (members: FilterMembers | undefined): string[] =>
  members === undefined
    ? []
    : [members.versionIds, members.chunkIds].map((ids) => `{${ids.join()}}`);

interface FoundRow {
  readonly chunk_id: string;
  readonly rendered: string;
  readonly embedding: Uint8Array;
}

/** Best first; equal scores in the order of the chunks' ids. */
function bestFirst(a: FoundChunk, b: FoundChunk): number {
  return b.score - a.score || (a.id < b.id ? -1 : 1);
}

/**
 * The best `limit` chunks of a scope and some more, whatever their scores. All placements are queried for their best
 * ones in parallel.
 */
export async function findChunks(sql: Sql, search: VectorSearch): Promise<FoundChunk[]> {
  const { scope, contents, plan, vector, limit, members } = search;
  const { copyId, applied, thresholds, placements } = contents;
  const tables = tablesOf(copyId);
  const dimension = vector.length;
  const values: (string | number)[] = [baseOf(scope).id, applied];
  if (plan === "exact" || thresholds === null) values.push(vectorText(vector));
  else values.push(unitText(vector), codeText(codeOf(vector, thresholds)));
  values.push(...listsOf(members));
  const filtered = members !== undefined;
  const candidates = candidatesFor(statementLimit(limit), contents.candidates);
  const answers = await Promise.all(
    placements.map((placement) => {
      const statement = searchStatement({
        tables,
        placement,
        dimension,
        plan,
        filtered,
        candidates,
        limit: statementLimit(limit),
      });
      // The lists of filters differ in length by orders of magnitude, so each statement is planned for its own lists.
      const query = sql.unsafe<FoundRow[]>(statement, values, { prepare: !filtered });
      // Comparing every vector of a large scope takes longer than other reads may.
      return plan === "exact" ? withWriteDeadline(query) : query;
    }),
  );
  const score = cosineTo(vector);
  return answers
    .flat()
    .map(({ chunk_id: id, rendered, embedding }) => {
      const own = vectorOfBytes(embedding);
      return { id, rendered, vector: own, score: score(own) };
    })
    .sort(bestFirst);
}

interface CountRow {
  /** Null for chunks that certainly reach the threshold. */
  readonly embedding: Uint8Array | null;
  readonly chunks: number;
}

/** The number of chunks of a scope that reach the threshold, by their scores in double precision. */
export async function countMatches(
  sql: Sql,
  { scope, contents, vector, members }: Omit<VectorSearch, "plan" | "limit">,
  threshold: number,
): Promise<number> {
  const { copyId, applied, placements } = contents;
  const tables = tablesOf(copyId);
  const values = [
    baseOf(scope).id,
    applied,
    vectorText(vector),
    1 - threshold,
    ...listsOf(members),
  ];
  const filtered = members !== undefined;
  const answers = await Promise.all(
    placements.map((placement) => {
      const statement = countStatement({
        tables,
        placement,
        dimension: vector.length,
        filtered,
      });
      return withWriteDeadline(sql.unsafe<CountRow[]>(statement, values));
    }),
  );
  const score = cosineTo(vector);
  const matches = answers
    .flat()
    .filter(({ embedding }) => embedding === null || score(vectorOfBytes(embedding)) >= threshold);
  return matches.reduce((sum, { chunks }) => sum + chunks, 0);
}

/**
 * The dot product in double precision. It adds in the same order as the kernels of the native core
 * (native/src/kernels/kernels_common.hpp), so that both engines return the same scores to the last bit.
 */
function dot(a: Float32Array, b: Float32Array): number {
  const sums = new Float64Array(2 * LANES);
  for (let i = 0; i < a.length; i += 2 * LANES) {
    for (let lane = 0; lane < 2 * LANES; lane++) {
      sums[lane] = (sums[lane] as number) + (a[i + lane] as number) * (b[i + lane] as number);
    }
  }
  const both = (lane: number) => (sums[lane] as number) + (sums[lane + LANES] as number);
  return both(0) + both(1) + (both(2) + both(3)) + (both(4) + both(5) + (both(6) + both(7)));
}

/** Scores vectors against a query: the cosine, from -1 to 1. Lengths are multiples of 16. */
export function cosineTo(query: Float32Array): (vector: Float32Array) => number {
  const inverseNorm = 1 / Math.sqrt(dot(query, query));
  return (vector) => {
    const score = dot(query, vector) * inverseNorm * (1 / Math.sqrt(dot(vector, vector)));
    return score > 1 - SCORE_ROUNDING ? 1 : Math.max(-1, score);
  };
}

/** The JSON body of an answer, with the same members in the same order as the embedded engine's. */
export function renderAnswer(
  hits: readonly FoundChunk[],
  matches: number,
  selfPath: string,
  milliseconds: number,
): OwnedBytes {
  const data = hits.map(
    ({ rendered, score }) => `{"chunk":${rendered},"score":${score},"match_type":"semantic"}`,
  );
  const self = JSON.stringify(selfPath);
  const time = Math.round(milliseconds * 1_000) / 1_000;
  return encoded(
    `{"data":[${data.join(",")}],` +
      `"page_info":{"self":${self},"first":null,"next":null,"prev":null},` +
      `"search_time_ms":${time},"total_matches":${matches}}`,
  );
}

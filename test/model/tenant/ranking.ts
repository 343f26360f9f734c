import { cosineOf } from "../../../support/api/versions.ts";
import { fileOf } from "./content.ts";
import type { Contents } from "./scope.ts";

/** Similarities are computed in another order by the service. */
const SCORE_ERROR = 1e-4;

/** The identity of a chunk in a scope, and its similarity. */
export type Hit = readonly [name: string, score: number];

export interface VectorQuery {
  readonly vector: Float32Array;
  readonly limit: number;
  readonly threshold: number;
}

export const chunkName = (path: string, index: number, content: string): string =>
  `${path} ${index} ${content}`;

/** Every chunk of the query's dimension, best first. */
function ranking(contents: Contents, vector: Float32Array): Hit[] {
  const hits: Hit[] = [];
  for (const [path, number] of contents) {
    for (const { index, content, vector: own } of fileOf(number).chunks) {
      if (own.length !== vector.length) continue;
      hits.push([chunkName(path, index, content), cosineOf(own, vector)]);
    }
  }
  return hits.sort((a, b) => b[1] - a[1]);
}

function areRight(ranked: readonly Hit[], hits: readonly Hit[]): boolean {
  const scores = new Map(ranked);
  return hits.every(([name, score], at) => {
    const isSorted = at === 0 || score <= (hits[at - 1] as Hit)[1];
    const expected = scores.get(name);
    return isSorted && expected !== undefined && Math.abs(expected - score) < SCORE_ERROR;
  });
}

/** True if the hits are what an exact search of these contents returns, up to rounding. */
export function isExact(contents: Contents, hits: readonly Hit[], query: VectorQuery): boolean {
  const ranked = ranking(contents, query.vector);
  const found = new Set(hits.map(([name]) => name));
  if (found.size !== hits.length || !areRight(ranked, hits)) return false;
  const above = (bound: number) => ranked.filter(([, score]) => score >= bound).length;
  if (hits.length < Math.min(query.limit, above(query.threshold + SCORE_ERROR))) return false;
  if (hits.length > Math.min(query.limit, above(query.threshold - SCORE_ERROR))) return false;
  const worst = hits.at(-1)?.[1] ?? 1;
  const bestMissed = ranked.find(([name]) => !found.has(name))?.[1] ?? -1;
  return hits.length < query.limit || worst >= bestMissed - SCORE_ERROR;
}

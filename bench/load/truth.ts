import { jsonBody } from "../harness/requests.ts";
import { mean } from "../harness/statistics.ts";
import { type Matrix, nearestRows, rowOf } from "../harness/vector-files.ts";
import { rowOfHit } from "./data.ts";
import type { Service } from "./service.ts";

/** Scores of the service and of brute force differ by less than this, by rounding. */
const SCORE_EPSILON = 1e-5;

interface Hit {
  readonly score: number;
  readonly chunk: { readonly file_path: string; readonly index: number };
}

/** What the true best of a query are: rows of the data, or scores, the best first. */
export type Truth =
  | { readonly kind: "rows"; readonly rows: Int32Array }
  | { readonly kind: "scores"; readonly scores: readonly number[] };

/** Recall of some queries and how they were answered. */
export interface Recall {
  /** The number of results that were asked for. */
  readonly limit: number;
  /** 0 to 1; null when no query has a true neighbour. */
  readonly recall: number | null;
  readonly queries: number;
  /** How many searches each plan has answered. */
  readonly plans: Readonly<Record<string, number>>;
}

async function search(
  service: Service,
  vector: Float32Array<ArrayBuffer>,
  limit: number,
  query = "",
) {
  const response = await service.search(jsonBody(vector, limit, "base64"), query);
  const { data } = (await response.json()) as { data: Hit[] };
  return { hits: data, plan: response.headers.get("x-search-plan") ?? "unknown" };
}

/** The best scores by brute force in this process. Tessera returns no negative scores. */
export function scoresByBruteForce(
  data: Matrix,
  queries: Matrix,
  count: number,
  limit: number,
): Truth[] {
  return Array.from({ length: count }, (_, i) => {
    const { scores } = nearestRows(data, rowOf(queries, i), limit);
    return { kind: "scores", scores: scores.filter((score) => score >= 0) };
  });
}

/** The best scores by the service's exact mode. */
export async function scoresByExactMode(
  service: Service,
  queries: Matrix,
  count: number,
  limit: number,
): Promise<Truth[]> {
  const truth: Truth[] = [];
  for (let i = 0; i < count; i++) {
    const { hits } = await search(service, rowOf(queries, i), limit, "?effort=exact");
    truth.push({ kind: "scores", scores: hits.map(({ score }) => score) });
  }
  return truth;
}

/** The share of the true best `limit` that the hits have; undefined when there are none. */
export function shareFound(truth: Truth, hits: readonly Hit[], limit: number): number | undefined {
  if (truth.kind === "rows") {
    const best = new Set(truth.rows.slice(0, limit));
    return best.size === 0
      ? undefined
      : hits.filter(({ chunk }) => best.has(rowOfHit(chunk))).length / best.size;
  }
  const best = truth.scores.slice(0, limit);
  const least = best.at(-1);
  if (least === undefined) return undefined;
  // Equal scores are equally good, so it does not matter which of them was found.
  const found = hits.filter(({ score }) => score >= least - SCORE_EPSILON).length;
  return Math.min(1, found / best.length);
}

/** Searches for each query once, with nothing else running, and compares with the truth. */
export async function measureRecall(
  service: Service,
  queries: Matrix,
  truth: readonly Truth[],
  limit: number,
): Promise<Recall> {
  const plans: Record<string, number> = {};
  const shares: number[] = [];
  for (const [i, best] of truth.entries()) {
    const { hits, plan } = await search(service, rowOf(queries, i), limit);
    plans[plan] = (plans[plan] ?? 0) + 1;
    const share = shareFound(best, hits, limit);
    if (share !== undefined) shares.push(share);
  }
  const recall = shares.length === 0 ? null : mean(shares);
  return { limit, recall, queries: truth.length, plans };
}

import { mean, quantile } from "../harness/statistics.ts";
import { KINDS, type Kind, type KnownItemQuery } from "./queries.ts";

/** Number of results considered: the most that the lookup operation returns. */
export const RANKS = 12;

/** Answers a query with the paths of its results, best first. */
export type SearchSystem = (query: string) => string[];

export interface Measurement {
  /** Mean reciprocal rank of the known item within the first 12, by kind and over all queries. */
  byKind: Record<Kind, number>;
  all: number;
  p50Micros: number;
  p99Micros: number;
}

/** Runs every query twice, first as a warm-up, and scores the second answers. */
export function measure(system: SearchSystem, queries: readonly KnownItemQuery[]): Measurement {
  for (const query of queries) system(query.text);
  const micros: number[] = [];
  const gains = queries.map((query) => {
    const start = performance.now();
    const paths = system(query.text);
    micros.push((performance.now() - start) * 1000);
    const rank = paths.slice(0, RANKS).indexOf(query.path);
    return rank < 0 ? 0 : 1 / (rank + 1);
  });
  const byKind = Object.fromEntries(
    KINDS.map((kind) => [kind, mean(gains.filter((_, i) => queries[i]?.kind === kind))]),
  ) as Record<Kind, number>;
  return {
    byKind,
    all: mean(gains),
    p50Micros: quantile(micros, 0.5),
    p99Micros: quantile(micros, 0.99),
  };
}

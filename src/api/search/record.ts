import type { SearchFound } from "../../../workers/protocol.ts";
import type { Metrics } from "../../observability/metrics.ts";

/** The stage that finds the candidates of each plan; an exact comparison needs no other. */
const FINDING = { empty: undefined, exact: "exact", scan: "scan", graph: "walk" } as const;

/** Adds the stages of an answered search to the metrics. */
export function recordSearch({ searchStages }: Metrics, found: SearchFound): void {
  const { plan, parseMs, searchMs, rescoreMs, renderMs } = found;
  searchStages.observe("parse", parseMs / 1_000);
  const stage = FINDING[plan];
  if (stage !== undefined) searchStages.observe(stage, (searchMs - rescoreMs) / 1_000);
  if (stage === "scan" || stage === "walk") {
    searchStages.observe("rescore", rescoreMs / 1_000);
  }
  searchStages.observe("render", renderMs / 1_000);
}

const rounded = (milliseconds: number) => Number(milliseconds.toFixed(3));

/** What the log of slow requests and a span say about an answered search. Times are in milliseconds. */
export function describeSearch(found: SearchFound): Readonly<Record<string, string | number>> {
  const { plan, scopeVectors, estimates, comparisons } = found;
  return {
    ...{ plan, scopeVectors, estimates, comparisons },
    waitMs: rounded(found.waitMs),
    parseMs: rounded(found.parseMs),
    searchMs: rounded(found.searchMs),
    rescoreMs: rounded(found.rescoreMs),
    renderMs: rounded(found.renderMs),
  };
}

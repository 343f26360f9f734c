import type { SearchWork } from "../../engine/requests/request.ts";
import type { Metrics } from "../../observability/metrics.ts";

/** The stage that finds the candidates of each plan; an exact comparison needs no other. */
const FINDING = { empty: undefined, exact: "exact", scan: "scan", graph: "walk" } as const;

/** Adds the stages of an answered search to the metrics. */
export function recordSearch({ searchStages }: Metrics, work: SearchWork): void {
  const { plan, parseMs, searchMs, rescoreMs, renderMs } = work;
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
export function describeSearch(work: SearchWork): Readonly<Record<string, string | number>> {
  const { plan, scopeVectors, estimates, comparisons } = work;
  return {
    ...{ plan, scopeVectors, estimates, comparisons },
    waitMs: rounded(work.waitMs),
    parseMs: rounded(work.parseMs),
    searchMs: rounded(work.searchMs),
    rescoreMs: rounded(work.rescoreMs),
    renderMs: rounded(work.renderMs),
  };
}

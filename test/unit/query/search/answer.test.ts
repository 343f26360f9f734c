import { expect, test } from "bun:test";
import type { SearchWork } from "../../../../src/engine/requests/request.ts";
import { createMetrics } from "../../../../src/ops/observability/metrics.ts";
import { recordSearch } from "../../../../src/query/search/answer.ts";
import { Scrape } from "../../../../support/prometheus.ts";

const work: SearchWork = {
  ignored: null,
  parseMs: 1,
  searchMs: 10,
  renderMs: 2,
  rescoreMs: 4,
  waitMs: 0,
  tookMs: 13,
  scopeVectors: 100,
  estimates: 50,
  comparisons: 20,
  countsAll: false,
  plan: "graph",
};

async function secondsOf(plan: SearchWork["plan"]): Promise<Record<string, number>> {
  const metrics = createMetrics();
  recordSearch(metrics, { ...work, plan });
  const samples = new Scrape(await metrics.registry.metrics()).samples(
    "tessera_search_stage_duration_seconds_sum",
  );
  const passed = samples.filter(({ value }) => value > 0);
  return Object.fromEntries(passed.map(({ labels, value }) => [labels["stage"], value]));
}

test("the time of a search is divided among the stages of its plan", async () => {
  const others = { parse: 0.001, render: 0.002 };
  expect(await secondsOf("graph")).toEqual({ ...others, walk: 0.006, rescore: 0.004 });
  expect(await secondsOf("scan")).toEqual({ ...others, scan: 0.006, rescore: 0.004 });
  expect(await secondsOf("exact")).toEqual({ ...others, exact: 0.006 });
  expect(await secondsOf("empty")).toEqual(others);
});

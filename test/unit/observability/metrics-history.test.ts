import { expect, test } from "bun:test";
import { MetricsHistory } from "../../../src/observability/metrics-history.ts";

const STEP_MS = 5_000;
const HOUR_SECONDS = 3_600;
const IDLE = { projects: 2, lag: 0, recall: null };
const RSS = 100_000_000;

test("a point has rates by kind, latencies, refusals, errors and gauges of its five seconds", () => {
  const history = new MetricsHistory(0);
  for (let i = 0; i < 98; i++) history.observe("searchEnvironment", 200, 1, false);
  history.observe("searchRelease", 200, 100, false);
  history.observe("lookUpKnowledge", 500, 100, false);
  history.observe("retrieve", 200, 0, false);
  history.observe("getProject", 404, 1, false);
  for (let i = 0; i < 10; i++) history.observe("searchEnvironment", 503, 0, true);
  history.sample({ projects: 3, lag: 7, recall: 0.995 }, RSS, STEP_MS);
  history.sample({ ...IDLE, lag: 1 }, RSS, 2 * STEP_MS);
  history.sample(IDLE, RSS, 3 * STEP_MS);
  const { at, interval_seconds, requests_per_second, series } = history.read(60, 3 * STEP_MS);
  expect([at, interval_seconds]).toEqual([[5, 10, 15], 5]);
  expect(requests_per_second).toEqual({
    search: [19.8, 0, 0],
    lookup: [0.2, 0, 0],
    retrieve: [0.2, 0, 0],
    other: [0.2, 0, 0],
  });
  const { p50_ms, p99_ms, ...rest } = series;
  expect(rest).toEqual({
    refusals_per_second: [2, 0, 0],
    errors_per_second: [0.2, 0, 0],
    rss_bytes: [RSS, RSS, RSS],
    loaded_projects: [3, 2, 2],
    index_lag_seconds: [0, 5, 0],
    recall: [0.995, null, null],
  });
  // Buckets are 9% wide.
  expect(p50_ms[0]).toBeWithin(0.95, 1.1);
  expect(p99_ms[0]).toBeWithin(95, 110);
  expect([p50_ms[1], p99_ms[1]]).toEqual([null, null]);
});

test("six hours are kept, and of more than 720 samples neighbours are merged into one point", () => {
  const history = new MetricsHistory(0);
  const samples = 10_000;
  for (let i = 1; i <= samples; i++) {
    for (let each = 0; each < i % 6; each++) history.observe("retrieve", 200, 1, false);
    history.sample({ ...IDLE, projects: i }, RSS, i * STEP_MS);
  }
  const now = samples * STEP_MS;
  const hour = history.read(HOUR_SECONDS, now);
  expect([hour.at.length, hour.interval_seconds, hour.at.at(-1)]).toEqual([720, 5, now / 1_000]);
  expect(hour.series.loaded_projects.slice(-2)).toEqual([samples - 1, samples]);
  const all = history.read(6 * HOUR_SECONDS, now);
  expect(all.interval_seconds).toBe(30);
  expect(all.at.length).toBeWithin(718, 721);
  expect(all.at.map((at, i) => at - (all.at[i - 1] ?? at - 30))).toEqual(all.at.map(() => 30));
  // Six samples with 0 to 5 requests in five seconds.
  for (const rate of all.requests_per_second.retrieve) expect(rate).toBeCloseTo(0.5, 5);
  const five = history.read(300, now);
  expect(five.at).toHaveLength(60);
});

test("without samples, and after a pause, there are no points", () => {
  const history = new MetricsHistory(0);
  expect(history.read(60, 1_000).at).toEqual([]);
  history.sample(IDLE, RSS, STEP_MS);
  expect(history.read(60, 10 * 60_000).at).toEqual([]);
});

import { describe, expect, test } from "bun:test";
import { pointOf, readingOf } from "../../../src/console/page/operate/metrics.ts";

const DURATION = "tessera_http_request_duration_seconds";

/** Metrics with requests of a status by the seconds within which they were answered. */
function metrics(
  process: number,
  requests: Readonly<Record<string, Readonly<Record<string, number>>>>,
) {
  const lines = [`tessera_process_start_time_seconds ${process}`, "tessera_index_change_lag 3"];
  for (const [labels, within] of Object.entries(requests)) {
    for (const [le, count] of Object.entries(within)) {
      lines.push(`${DURATION}_bucket{le="${le}",${labels}} ${count}`);
    }
    lines.push(`${DURATION}_count{${labels}} ${within["+Inf"]}`);
  }
  return lines.join("\n");
}

const SEARCH = 'operation="searchEnvironment",status="200"';
const before = readingOf(metrics(1, { [SEARCH]: { "0.001": 10, "0.01": 10, "+Inf": 10 } }), 100);

describe("a point between two readings", () => {
  test("has rates by kind and status, and durations of requests that were not refused", () => {
    const text = metrics(1, {
      [SEARCH]: { "0.001": 60, "0.01": 110, "+Inf": 110 },
      'operation="getProject",status="500"': { "0.001": 0, "0.01": 100, "+Inf": 100 },
      'operation="retrieve",status="503"': { "0.001": 900, "0.01": 900, "+Inf": 900 },
      'operation="retrieve",status="429"': { "0.001": 100, "0.01": 100, "+Inf": 100 },
    });
    const point = pointOf(before, readingOf(text, 110));
    expect(point).toMatchObject({ at: 110, searches: 10, others: 10, failed: 10, refused: 100 });
    // 50 of the 200 are below 1 ms, and the others between 1 and 10 ms.
    expect(point.p50).toBeCloseTo(1 + 9 / 3);
    expect(point.p99).toBeCloseTo(1 + (9 * 148) / 150);
    expect(point).toMatchObject({ lag: 3, recall: null, memory: null });
  });

  test("takes the longest duration that is measured where more than that is unknown", () => {
    const text = metrics(1, { [SEARCH]: { "0.001": 10, "0.01": 10, "+Inf": 20 } });
    expect(pointOf(before, readingOf(text, 110))).toMatchObject({ p50: 10, p99: 10 });
  });

  test("has no durations without requests", () => {
    const point = pointOf(before, { ...before, at: 110 });
    expect(point).toMatchObject({ searches: 0, p50: null, p99: null });
  });

  test("has no rates for the first reading of a process", () => {
    const other = readingOf(metrics(2, {}), 110);
    for (const point of [pointOf(undefined, other), pointOf(before, other)]) {
      expect(point).toMatchObject({ searches: null, failed: null, p50: null, lag: 3 });
    }
  });
});

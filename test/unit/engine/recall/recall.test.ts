import { afterEach, describe, expect, test } from "bun:test";
import type { RecallSample } from "../../../../native/index.ts";
import {
  RECALL_IDLE_POLL_MS,
  RECALL_INTERVAL_MS,
  RECALL_RECALIBRATE_SAMPLES,
  RECALL_TARGET,
} from "../../../../src/domain/limits.ts";
import { RecallMonitor, RecallWindow } from "../../../../src/engine/recall-monitor.ts";
import { advance, useFakeClock } from "../../../../support/fake-clock.ts";
import { searchRequest } from "../../../../support/requests.ts";

/** Time in which a sample is certainly measured, and the rest after it is over. */
const CYCLE_MS = 3 * (RECALL_IDLE_POLL_MS + RECALL_INTERVAL_MS);

/** Searches are divided into quarters. */
const KINDS = 4;

const opened: RecallMonitor[] = [];
useFakeClock();
afterEach(() => {
  for (const monitor of opened.splice(0)) monitor.close();
});

/** A monitor whose samples are what `sample` returns, and everything that it did. */
function monitored(sample: () => RecallSample | null | Promise<RecallSample | null>) {
  const seen = { idle: true, bodies: [] as number[], reports: [] as unknown[], failures: 0 };
  const calibrated: unknown[] = [];
  const sources: ConstructorParameters<typeof RecallMonitor>[0] = {
    isIdle: () => seen.idle,
    measure: async ({ body }) => {
      seen.bodies.push(body[0] as number);
      return await sample();
    },
    measured: (...report) => seen.reports.push(report),
    recalibrate: (...index) => calibrated.push(index),
    failed: () => seen.failures++,
  };
  const monitor = new RecallMonitor(sources);
  opened.push(monitor);
  return { monitor, seen, calibrated };
}

describe("the window of recall samples", () => {
  test("has the recall of the latest samples, weighted by what they want", () => {
    const window = new RecallWindow(3);
    expect(window.recall).toBeNull();
    window.add({ wanted: 10, found: 0, best: 1 });
    expect(window.recall).toBe(0);
    for (let i = 0; i < 3; i++) window.add({ wanted: 10, found: 9, best: 1 });
    expect(window.recall).toBeCloseTo(0.9, 12);
    expect(window.samples).toBe(3);
    window.add({ wanted: 100, found: 100, best: 1 });
    expect(window.recall).toBeCloseTo(118 / 120, 12);
    window.clear();
    expect(window.recall).toBeNull();
    window.add({ wanted: 0, found: 0, best: 1 });
    expect(window.samples).toBe(0);
  });

  test("is below a target only when chance does not explain it", () => {
    const window = new RecallWindow(100);
    for (let i = 0; i < 20; i++) window.add({ wanted: 10, found: 10, best: 1 });
    expect(window.isBelow(RECALL_TARGET)).toBe(false);
    window.add({ wanted: 10, found: 2, best: 1 });
    expect(window.recall as number).toBeLessThan(RECALL_TARGET);
    expect(window.isBelow(RECALL_TARGET)).toBe(false);
    for (let i = 0; i < 70; i++) window.add({ wanted: 10, found: 9, best: 1 });
    expect(window.isBelow(RECALL_TARGET)).toBe(true);
  });
});

describe("searches whose best hits are far", () => {
  const EASY = { wanted: 10, found: 10 };
  const COUNT = 64;

  /** A quarter of the searches has a best hit of 0.3 and finds so many of ten; the others find all. */
  function mixed(found: number): RecallWindow {
    const window = new RecallWindow(COUNT);
    for (let i = 0; i < COUNT; i++) {
      window.add(i % KINDS === 0 ? { wanted: 10, found, best: 0.3 } : { ...EASY, best: 0.8 });
    }
    return window;
  }

  test("count by themselves, however well the others do", () => {
    expect(mixed(8).recall).toBeCloseTo(0.8, 12);
    expect(mixed(8).isBelow(RECALL_TARGET)).toBe(true);
    expect(mixed(10).recall).toBe(1);
    expect(mixed(10).isBelow(RECALL_TARGET)).toBe(false);
  });

  test("do not count by themselves while they are few", () => {
    const window = new RecallWindow(COUNT);
    for (let i = 0; i < COUNT / 2; i++) {
      window.add(i === 0 ? { wanted: 10, found: 5, best: 0.3 } : { ...EASY, best: 0.8 });
    }
    expect(window.recall).toBeCloseTo(1 - 0.5 / (COUNT / 2), 12);
    expect(window.isBelow(RECALL_TARGET)).toBe(false);
  });
});

describe("the recall monitor", () => {
  test("measures one search at a time, and a copy of its body", async () => {
    const { monitor, seen } = monitored(() => ({ dimension: 768, wanted: 10, found: 9, best: 1 }));
    expect(monitor.recall).toBeNull();
    const first = searchRequest(1);
    monitor.offer(first);
    first.body[0] = 99;
    for (let i = 2; i < 10; i++) monitor.offer(searchRequest(i));
    await advance(CYCLE_MS);
    expect(seen.bodies).toEqual([1]);
    expect(seen.reports).toEqual([["project", 768, 0.9, 1]]);
    expect(monitor.recall).toBeCloseTo(0.9, 12);
    monitor.offer(searchRequest(20));
    await advance(CYCLE_MS);
    expect(seen.bodies).toEqual([1, 20]);
    expect(seen.reports.at(-1)).toEqual(["project", 768, 0.9, 2]);
  });

  test("waits while other searches run", async () => {
    const { monitor, seen } = monitored(() => ({ dimension: 768, wanted: 1, found: 1, best: 1 }));
    seen.idle = false;
    monitor.offer(searchRequest(1));
    await advance(CYCLE_MS);
    expect(seen.bodies).toEqual([]);
    seen.idle = true;
    await advance(CYCLE_MS);
    expect(seen.bodies).toEqual([1]);
  });

  test("rests long enough to take only its share of the time", async () => {
    const { monitor, seen } = monitored(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { dimension: 768, wanted: 1, found: 1, best: 1 };
    });
    monitor.offer(searchRequest(1));
    await advance(RECALL_IDLE_POLL_MS + 100 + 2 * CYCLE_MS);
    monitor.offer(searchRequest(2));
    await advance(CYCLE_MS);
    expect(seen.bodies).toEqual([1]);
  });

  test("survives searches that cannot be measured", async () => {
    const outcomes = [Promise.reject(new Error("gone")), Promise.resolve(null)];
    for (const outcome of outcomes) outcome.catch(() => {});
    const { monitor, seen } = monitored(
      () => outcomes.shift() ?? { dimension: 768, wanted: 4, found: 4, best: 1 },
    );
    for (let i = 0; i < 3; i++) {
      monitor.offer(searchRequest(i));
      await advance(CYCLE_MS);
    }
    expect(seen.failures).toBe(1);
    expect(seen.reports).toEqual([["project", 768, 1, 1]]);
  });

  test("has an index calibrated again once enough samples show that it misses the target", async () => {
    const { monitor, seen, calibrated } = monitored(() => ({
      dimension: 768,
      wanted: 10,
      found: seen.bodies.length % 2 === 0 ? 9 : 8,
      best: 1,
    }));
    for (let sample = 1; sample < RECALL_RECALIBRATE_SAMPLES; sample++) {
      monitor.offer(searchRequest(0));
      await advance(CYCLE_MS);
    }
    expect(calibrated).toEqual([]);
    monitor.offer(searchRequest(0));
    await advance(CYCLE_MS);
    expect(calibrated).toEqual([["project", 768]]);
    expect(seen.reports).toHaveLength(RECALL_RECALIBRATE_SAMPLES);
    monitor.offer(searchRequest(0));
    await advance(CYCLE_MS);
    expect(seen.reports.at(-1)).toEqual(["project", 768, expect.any(Number), 1]);
    expect(calibrated).toHaveLength(1);
  });
});

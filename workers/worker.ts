import type { EngineRequest, Reply } from "../src/engine/requests/request.ts";
import { run } from "../src/engine/requests/run.ts";
import { warmUp } from "../src/engine/requests/warm-up.ts";
import { SEARCH_WORKER_NICENESS } from "../src/shared/limits.ts";
import { setThreadNiceness } from "../src/shared/thread-priority.ts";

/** How often a worker that is in use collects its garbage, which takes one or two milliseconds. */
const COLLECT_INTERVAL_MS = 15_000;

// Under overload the main thread must not wait for a core: it refuses, and accepted requests wait for it.
setThreadNiceness(SEARCH_WORKER_NICENESS);
warmUp();

let collectedAt = performance.now();

/**
 * The thread blocks between batches, so its collector never runs when it is idle, and to a heap of so few
 * objects their buffers look small: bodies, and text segments that were replaced long ago, which stay in
 * memory until the last thread has let them go.
 */
function collectNowAndThen(): void {
  const now = performance.now();
  if (now - collectedAt < COLLECT_INTERVAL_MS) return;
  collectedAt = now;
  Bun.gc(true);
}

/**
 * The entry point of a worker: answers a batch, so that several requests share the cost of one hand-off
 * under load. One that fails does not affect the others.
 */
export default function runAll(batch: ReadonlyArray<EngineRequest>): Reply[] {
  collectNowAndThen();
  return batch.map(run);
}

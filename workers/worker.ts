import type { EngineRequest, Reply } from "../src/engine/requests/request.ts";
import { run } from "../src/engine/requests/run.ts";
import { warmUp } from "../src/engine/requests/warm-up.ts";
import { SEARCH_WORKER_NICENESS } from "../src/shared/limits.ts";
import { setThreadNiceness } from "../src/shared/thread-priority.ts";

// Under overload the main thread must not wait for a core: it refuses, and accepted requests wait for it.
setThreadNiceness(SEARCH_WORKER_NICENESS);
warmUp();

/**
 * The entry point of a worker: answers a batch, so that several requests share the cost of one hand-off
 * under load. One that fails does not affect the others.
 */
export default function runAll(batch: ReadonlyArray<EngineRequest>): Reply[] {
  return batch.map(run);
}

import { Piscina } from "piscina";
import type { EngineRequest, Reply } from "./request.ts";

/** One batch that runs, and another that follows it without a pause. */
export const BATCHES_PER_WORKER = 2;

/** Runs batches of requests on other threads. */
export interface WorkerPool {
  readonly workers: number;
  /** One reply per request, in the same order. The bodies of searches are transferred. */
  run(batch: ReadonlyArray<EngineRequest>): Promise<Reply[]>;
  close(): Promise<void>;
}

function bodiesOf(batch: ReadonlyArray<EngineRequest>): ArrayBuffer[] {
  return batch.flatMap((request) => (request.kind === "search" ? [request.body.buffer] : []));
}

/** Starts the worker threads, which load the native module at once. */
export function createWorkers(workers: number): WorkerPool {
  const pool = new Piscina({
    filename: new URL("../../../workers/worker.ts", import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
    concurrentTasksPerWorker: BATCHES_PER_WORKER,
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
    // A worker blocks between tasks instead of polling its event loop, at a third of the latency.
    atomics: "sync",
  });
  return {
    workers,
    // The DOM types require an options object where Node accepts the list itself.
    run: (batch) => pool.run(batch, { transferList: bodiesOf(batch) as never }),
    close: () => pool.destroy(),
  };
}

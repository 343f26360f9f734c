import { Piscina } from "piscina";
import type {
  LookupReply,
  LookupTask,
  SearchResult,
  SearchTask,
} from "../../../workers/protocol.ts";

/** One that runs, and one that follows it without a pause. */
export const TASKS_PER_WORKER = 2;

/** Runs batches of searches and batches of lookups on other threads. */
export interface SearchRunner {
  readonly workers: number;
  run(task: SearchTask, transfer: ArrayBuffer[]): Promise<SearchResult>;
  /** One reply per task, in the same order. */
  lookUpAll(tasks: readonly LookupTask[]): Promise<LookupReply[]>;
  close(): Promise<void>;
}

/** Starts the worker threads, which load the native module at once. */
export function createWorkers(workers: number): SearchRunner {
  const pool = new Piscina({
    filename: new URL("../../../workers/worker.ts", import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
    concurrentTasksPerWorker: TASKS_PER_WORKER,
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
    // A worker blocks between tasks instead of polling its event loop, at a third of the latency.
    atomics: "sync",
  });
  return {
    workers,
    // The DOM types require an options object where Node accepts the list itself.
    run: (task, transfer) => pool.run(task, { transferList: transfer as never }),
    lookUpAll: (tasks) => pool.run(tasks, { name: "lookUpAll" }),
    close: () => pool.destroy(),
  };
}

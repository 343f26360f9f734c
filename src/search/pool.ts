import { Piscina } from "piscina";
import type {
  LookupResult,
  LookupTask,
  SearchReply,
  SearchRequest,
  SearchResult,
  SearchTask,
} from "../../workers/protocol.ts";
import { search } from "../../workers/search.ts";
import {
  SEARCH_BATCH_MAX,
  SEARCH_COSTS_MAX,
  SEARCH_INLINE_MAX_MS,
  SEARCH_TURN_MS,
} from "../shared/limits.ts";

interface Waiting {
  readonly request: SearchRequest;
  readonly resolve: (reply: SearchReply) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs batches of searches on other threads. */
export interface SearchRunner {
  readonly workers: number;
  run(task: SearchTask, transfer: ArrayBuffer[]): Promise<SearchResult>;
  close(): Promise<void>;
}

/** Runs lookups on the same threads, one per task. */
export interface LookupRunner {
  lookup(task: LookupTask): Promise<LookupResult>;
}

/** Starts the worker threads, which load the native module at once. */
export function createWorkers(workers: number): SearchRunner & LookupRunner {
  const pool = new Piscina({
    filename: new URL("../../workers/worker.ts", import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
    // A worker blocks between tasks instead of polling its event loop, at a third of the latency.
    atomics: "sync",
  });
  return {
    workers,
    // The DOM types require an options object where Node accepts the list itself.
    run: (task, transfer) => pool.run(task, { transferList: transfer as never }),
    lookup: (task) => pool.run(task, { name: "lookup" }),
    close: () => pool.destroy(),
  };
}

/**
 * Runs searches on this thread or on the workers. A cheap search runs on this thread, without a
 * hand-off, as long as the current turn of the event loop has time left. The others are collected
 * until the end of the turn, or until a worker is free, and are distributed in batches.
 */
export class SearchPool {
  readonly #queue: Waiting[] = [];
  /** Average cost of recent searches in milliseconds, by scope. */
  readonly #costs = new Map<string, number>();
  #busy = 0;
  /** Milliseconds that searches have taken in this turn of the event loop. */
  #spent = 0;
  #scheduled = false;

  constructor(private readonly runner: SearchRunner) {}

  /** Searches that wait for a worker. */
  get queued(): number {
    return this.#queue.length;
  }

  search(request: SearchRequest): SearchReply | Promise<SearchReply> {
    const cost = this.#costs.get(request.scopeId) ?? Number.POSITIVE_INFINITY;
    this.#flushAfterTurn();
    if (cost <= SEARCH_INLINE_MAX_MS && this.#spent + cost <= SEARCH_TURN_MS) {
      const startedAt = performance.now();
      const reply = search(request);
      const took = performance.now() - startedAt;
      this.#spent += took;
      this.#recordCost(request.scopeId, took);
      return reply;
    }
    const { promise, resolve, reject } = Promise.withResolvers<SearchReply>();
    this.#queue.push({ request, resolve, reject });
    return promise;
  }

  close(): Promise<void> {
    return this.runner.close();
  }

  /** Requests arrive in bursts, so those of one turn are collected before they are distributed. */
  #flushAfterTurn(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#spent = 0;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#queue.length > 0 && this.#busy < this.runner.workers) {
      const share = Math.ceil(this.#queue.length / (this.runner.workers - this.#busy));
      void this.#dispatch(this.#queue.splice(0, Math.min(share, SEARCH_BATCH_MAX)));
    }
  }

  async #dispatch(batch: Waiting[]): Promise<void> {
    const requests = batch.map((waiting) => waiting.request);
    this.#busy++;
    try {
      const transfer = requests.map((request) => request.body);
      const { replies, took } = await this.runner.run({ requests }, transfer);
      for (const [i, { request, resolve }] of batch.entries()) {
        this.#recordCost(request.scopeId, took[i] as number);
        resolve(replies[i] as SearchReply);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#busy--;
      this.#flush();
    }
  }

  #recordCost(scopeId: string, milliseconds: number): void {
    const known = this.#costs.get(scopeId);
    if (known === undefined && this.#costs.size >= SEARCH_COSTS_MAX) this.#costs.clear();
    // A moving average, because a single slow search may only mean that a thread was interrupted.
    const cost = known === undefined ? milliseconds : known + (milliseconds - known) / 8;
    this.#costs.set(scopeId, cost);
  }
}

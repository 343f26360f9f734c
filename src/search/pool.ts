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
  SEARCH_EXACT_INTERVAL_MS,
  SEARCH_INLINE_MAX_MS,
  SEARCH_TURN_MS,
} from "../shared/limits.ts";

interface Waiting {
  readonly request: SearchRequest;
  readonly resolve: (reply: SearchReply) => void;
  readonly reject: (error: unknown) => void;
}

function enqueue(queue: Waiting[], request: SearchRequest): Promise<SearchReply> {
  const { promise, resolve, reject } = Promise.withResolvers<SearchReply>();
  queue.push({ request, resolve, reject });
  return promise;
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
 *
 * An exact search takes long, so it always runs on a worker, and yields to other searches: all
 * workers but one may run exact searches (a single worker may, too), each starts when no other search
 * waits for a worker, and otherwise only once per SEARCH_EXACT_INTERVAL_MS.
 */
export class SearchPool {
  readonly #queue: Waiting[] = [];
  readonly #exactQueue: Waiting[] = [];
  readonly #maxExact: number;
  /** Exact searches that are running, and when the last one started. */
  #exact = 0;
  #lastExactAt = Number.NEGATIVE_INFINITY;
  /** Average cost of recent searches in milliseconds, by scope. */
  readonly #costs = new Map<string, number>();
  #busy = 0;
  /** Milliseconds that searches have taken in this turn of the event loop. */
  #spent = 0;
  #scheduled = false;

  constructor(private readonly runner: SearchRunner) {
    this.#maxExact = Math.max(1, runner.workers - 1);
  }

  /** Searches that wait for a worker. */
  get queued(): number {
    return this.#queue.length + this.#exactQueue.length;
  }

  /** Exact searches that wait for a worker. */
  get queuedExact(): number {
    return this.#exactQueue.length;
  }

  /** True while no worker searches and no search waits for one. */
  get idle(): boolean {
    return this.#busy === 0 && this.queued === 0;
  }

  search(request: SearchRequest): SearchReply | Promise<SearchReply> {
    this.#flushAfterTurn();
    if (request.exact) return enqueue(this.#exactQueue, request);
    const cost = this.#costs.get(request.scopeId) ?? Number.POSITIVE_INFINITY;
    if (cost <= SEARCH_INLINE_MAX_MS && this.#spent + cost <= SEARCH_TURN_MS) {
      const startedAt = performance.now();
      const reply = search(request);
      const took = performance.now() - startedAt;
      this.#spent += took;
      this.#recordCost(request.scopeId, took);
      return reply;
    }
    return enqueue(this.#queue, request);
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
    while (this.#busy < this.runner.workers) {
      if (this.#mayRunExact()) {
        void this.#runExact(this.#exactQueue.shift() as Waiting);
        continue;
      }
      if (this.#queue.length === 0) return;
      const share = Math.ceil(this.#queue.length / (this.runner.workers - this.#busy));
      void this.#dispatch(this.#queue.splice(0, Math.min(share, SEARCH_BATCH_MAX)));
    }
  }

  #mayRunExact(): boolean {
    if (this.#exactQueue.length === 0 || this.#exact >= this.#maxExact) return false;
    if (this.#queue.length === 0) return true;
    return performance.now() - this.#lastExactAt >= SEARCH_EXACT_INTERVAL_MS;
  }

  async #runExact(waiting: Waiting): Promise<void> {
    this.#exact++;
    this.#lastExactAt = performance.now();
    // Counted down first, because the next search is chosen when the worker is free again.
    await this.#dispatch([waiting], () => this.#exact--);
  }

  async #dispatch(batch: Waiting[], onDone?: () => void): Promise<void> {
    const requests = batch.map((waiting) => waiting.request);
    this.#busy++;
    try {
      const transfer = requests.map((request) => request.body);
      const { replies, took } = await this.runner.run({ requests }, transfer);
      for (const [i, { request, resolve }] of batch.entries()) {
        if (!request.exact) this.#recordCost(request.scopeId, took[i] as number);
        resolve(replies[i] as SearchReply);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#busy--;
      onDone?.();
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

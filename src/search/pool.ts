import { Piscina } from "piscina";
import type {
  LookupResult,
  LookupTask,
  SearchReply,
  SearchRequest,
  SearchResult,
  SearchTask,
} from "../../workers/protocol.ts";
import { replyTo } from "../../workers/search.ts";
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

/** What runs a task somewhere else; the pool of worker threads, or a stand-in of a test. */
export interface Runner {
  readonly workers: number;
  run(task: SearchTask, transfer: ArrayBuffer[]): Promise<SearchResult>;
  close(): Promise<void>;
}

/** What answers lookups: the same threads, one task a lookup. */
export interface LookupRunner {
  lookup(task: LookupTask): Promise<LookupResult>;
}

/** Worker threads that have the native module loaded before the first search comes. */
export function createWorkers(workers: number): Runner & LookupRunner {
  const pool = new Piscina({
    filename: new URL("../../workers/search.ts", import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
    // A worker blocks between tasks instead of polling its event loop: a third of the latency.
    atomics: "sync",
  });
  return {
    workers,
    // The types of the DOM want an options object where Node takes the list itself.
    run: (task, transfer) => pool.run(task, { transferList: transfer as never }),
    lookup: (task) => pool.run(task, { name: "lookup" }),
    close: () => pool.destroy(),
  };
}

/**
 * Runs searches here or on the workers. A cheap search runs right here, which beats any hand-off,
 * as long as this turn of the event loop has time left for it. Whatever comes beyond that in the
 * same turn, or while the workers were busy, is split over the free ones, so that one hand-off
 * pays for several searches.
 */
export class SearchPool {
  readonly #queue: Waiting[] = [];
  /** Recent cost of a search in milliseconds, by scope. */
  readonly #costs = new Map<string, number>();
  #busy = 0;
  /** Milliseconds that searches took of this turn of the event loop. */
  #spent = 0;
  #scheduled = false;

  constructor(private readonly runner: Runner) {}

  /** Searches that wait for a worker. */
  get queued(): number {
    return this.#queue.length;
  }

  search(request: SearchRequest): SearchReply | Promise<SearchReply> {
    const cost = this.#costs.get(request.scopeId) ?? Number.POSITIVE_INFINITY;
    this.#atEndOfTurn();
    if (cost <= SEARCH_INLINE_MAX_MS && this.#spent + cost <= SEARCH_TURN_MS) {
      const startedAt = performance.now();
      const reply = replyTo(request);
      const took = performance.now() - startedAt;
      this.#spent += took;
      this.#learn(request.scopeId, took);
      return reply;
    }
    const { promise, resolve, reject } = Promise.withResolvers<SearchReply>();
    this.#queue.push({ request, resolve, reject });
    return promise;
  }

  close(): Promise<void> {
    return this.runner.close();
  }

  /** Requests come in bursts, so what one turn has collected is handed on at its end. */
  #atEndOfTurn(): void {
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
      void this.#hand(this.#queue.splice(0, Math.min(share, SEARCH_BATCH_MAX)));
    }
  }

  async #hand(batch: Waiting[]): Promise<void> {
    const requests = batch.map((waiting) => waiting.request);
    this.#busy++;
    try {
      const transfer = requests.map((request) => request.body);
      const { replies, took } = await this.runner.run({ requests }, transfer);
      for (const [i, { request, resolve }] of batch.entries()) {
        this.#learn(request.scopeId, took[i] as number);
        resolve(replies[i] as SearchReply);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#busy--;
      this.#flush();
    }
  }

  #learn(scopeId: string, milliseconds: number): void {
    const known = this.#costs.get(scopeId);
    if (known === undefined && this.#costs.size >= SEARCH_COSTS_MAX) this.#costs.clear();
    // One slow search says little: a thread may have been interrupted.
    const cost = known === undefined ? milliseconds : known + (milliseconds - known) / 8;
    this.#costs.set(scopeId, cost);
  }
}

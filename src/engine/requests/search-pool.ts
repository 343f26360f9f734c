import type {
  LookupReply,
  LookupResult,
  LookupTask,
  SearchReply,
  SearchRequest,
} from "../../../workers/protocol.ts";
import { search } from "../../../workers/search.ts";
import { OVERLOADED } from "../../problem/problem.ts";
import {
  SEARCH_BATCH_MAX,
  SEARCH_BATCH_MAX_MS,
  SEARCH_BATCH_MIN_MS,
  SEARCH_COSTS_MAX,
  SEARCH_EXACT_INTERVAL_MS,
  SEARCH_EXACT_QUEUE_MAX,
  SEARCH_QUANTUM_MS,
  SEARCH_QUEUE_MIN,
  SEARCH_QUEUE_MS,
  SEARCH_WAIT_MAX_MS,
} from "../../shared/limits.ts";
import type { TurnBudget } from "../../shared/turn-budget.ts";
import { FairQueue } from "./fair-queue.ts";
import { type SearchRunner, TASKS_PER_WORKER } from "./search-runner.ts";

interface Settled<Reply> {
  /** When it began to wait. */
  readonly since: number;
  /** For how long it has waited, once it runs. */
  waitMs?: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

interface WaitingSearch extends Settled<SearchReply> {
  readonly request: SearchRequest;
}

interface WaitingLookup extends Settled<LookupResult> {
  readonly task: LookupTask;
}

type Waiting = WaitingSearch | WaitingLookup;
type WaitKind = "search" | "exact_search" | "lookup";

/** A search of a scope that has not been measured. */
const UNKNOWN_COST_MS = 1;

/**
 * Runs searches and lookups. A cheap search runs on this thread, without a hand-off, as long as the
 * current turn of the event loop has time left. The others wait in a queue that tenants share
 * fairly, until the end of the turn or until a worker is free, and are distributed in batches.
 *
 * The queue is bounded by the time that its work takes. A worker gets its next batch before it has
 * finished the last one when enough work waits, and batches grow with the duration of the event
 * loop's turns, so workers do not idle while this thread is busy with refusing requests.
 *
 * An exact search takes long, so it always runs on a worker, and yields to other searches: all
 * workers but one may run exact searches (a single worker may, too), each starts when no other search
 * waits for a worker, and otherwise only once per SEARCH_EXACT_INTERVAL_MS.
 */
export class SearchPool {
  readonly #queue: FairQueue<Waiting>;
  readonly #exactQueue: FairQueue<WaitingSearch>;
  readonly #maxExact: number;
  /** Exact searches that are running, and when the last one started. */
  #exact = 0;
  #lastExactAt = Number.NEGATIVE_INFINITY;
  /** Average cost of recent searches in milliseconds, by scope. */
  readonly #costs = new Map<string, number>();
  /** The cost of the last search that was refused for lack of room. */
  #refusedCost = 0;
  /** Tasks that the workers have. */
  #busy = 0;
  #scheduledAt: number | undefined;
  /** How long turns of the event loop take at present. */
  #turnMs = 0;

  /** @param waited called with the milliseconds for which a request waited for a worker */
  constructor(
    private readonly runner: SearchRunner,
    private readonly budget: TurnBudget,
    private readonly waited: (kind: WaitKind, milliseconds: number) => void = () => {},
  ) {
    this.#maxExact = Math.max(1, runner.workers - 1);
    const onDrop = ({ reject }: Waiting) => reject(OVERLOADED);
    this.#queue = new FairQueue<Waiting>({
      maxWork: SEARCH_QUEUE_MS * runner.workers,
      minLength: SEARCH_QUEUE_MIN,
      maxCost: SEARCH_QUEUE_MS / 4,
      quantum: SEARCH_QUANTUM_MS,
      maxWaitMs: SEARCH_WAIT_MAX_MS,
      onDrop,
    });
    this.#exactQueue = new FairQueue<WaitingSearch>({
      ...{ maxWork: SEARCH_EXACT_QUEUE_MAX, minLength: 1, maxCost: 1, quantum: 1 },
      maxWaitMs: Number.POSITIVE_INFINITY,
      onDrop,
    });
  }

  /** Searches and lookups that wait for a worker. */
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

  /** True while another search like the last that was refused would not find room. */
  get isFull(): boolean {
    return this.#queue.isFull(this.#refusedCost);
  }

  /** True when another search of the tenant, like the last that was refused, would be refused. */
  refuses(tenant: string): boolean {
    return !this.#queue.hasRoom(tenant, this.#refusedCost);
  }

  /** Searches for a tenant. Throws `overloaded`, or rejects with it later. */
  search(tenant: string, request: SearchRequest): SearchReply | Promise<SearchReply> {
    this.#flushAfterTurn();
    const { promise, resolve, reject } = Promise.withResolvers<SearchReply>();
    const since = performance.now();
    if (request.exact) {
      if (!this.#exactQueue.push(tenant, { request, since, resolve, reject }, 1)) throw OVERLOADED;
      return promise;
    }
    const cost = this.#costs.get(request.scopeId);
    if (cost !== undefined && this.budget.allows(cost)) return this.#runInline(request);
    const waiting = { request, since, resolve, reject };
    if (!this.#queue.push(tenant, waiting, cost ?? UNKNOWN_COST_MS)) {
      this.#refusedCost = cost ?? UNKNOWN_COST_MS;
      throw OVERLOADED;
    }
    this.#flushLongQueue();
    return promise;
  }

  /** Runs a lookup of a tenant that is expected to take so long. Rejects with `overloaded`. */
  lookup(tenant: string, task: LookupTask, costMs: number): Promise<LookupResult> {
    this.#flushAfterTurn();
    const { promise, resolve, reject } = Promise.withResolvers<LookupResult>();
    const waiting = { task, since: performance.now(), resolve, reject };
    if (!this.#queue.push(tenant, waiting, costMs)) reject(OVERLOADED);
    this.#flushLongQueue();
    return promise;
  }

  close(): Promise<void> {
    return this.runner.close();
  }

  #runInline(request: SearchRequest): SearchReply {
    const startedAt = performance.now();
    const reply = search(request);
    const took = performance.now() - startedAt;
    this.budget.spend(took);
    this.#recordCost(request.scopeId, took);
    return reply;
  }

  /** Requests arrive in bursts, so those of one turn are collected before they are distributed. */
  #flushAfterTurn(): void {
    if (this.#scheduledAt !== undefined) return;
    this.#scheduledAt = performance.now();
    setImmediate(() => {
      const turnMs = performance.now() - (this.#scheduledAt as number);
      this.#turnMs = Math.max(turnMs, this.#turnMs + (turnMs - this.#turnMs) / 8);
      this.#scheduledAt = undefined;
      this.#flush();
    });
  }

  /** In a long turn, the workers do not wait for its end. */
  #flushLongQueue(): void {
    if (this.#queue.work >= this.#batchMs * this.runner.workers) this.#flush();
  }

  /** The work of a full batch: enough to last for a turn of the event loop. */
  get #batchMs(): number {
    return Math.min(Math.max(SEARCH_BATCH_MIN_MS, this.#turnMs), SEARCH_BATCH_MAX_MS);
  }

  #flush(): void {
    for (;;) {
      const free = this.runner.workers - this.#busy;
      if (free > 0 && this.#mayRunExact()) {
        void this.#runExact(this.#exactQueue.shift() as WaitingSearch);
      } else if (this.#queue.length > 0 && (free > 0 || this.#mayRunAhead())) {
        this.#runBatch(Math.ceil(this.#queue.length / Math.max(1, free)));
      } else {
        return;
      }
    }
  }

  /** True when busy workers may get another batch, which nothing else can overtake any more. */
  #mayRunAhead(): boolean {
    if (this.#exact > 0 || this.#busy >= this.runner.workers * TASKS_PER_WORKER) return false;
    return this.#queue.work >= this.#batchMs;
  }

  #mayRunExact(): boolean {
    if (this.#exactQueue.length === 0 || this.#exact >= this.#maxExact) return false;
    if (this.#queue.length === 0) return true;
    return performance.now() - this.#lastExactAt >= SEARCH_EXACT_INTERVAL_MS;
  }

  async #runExact(waiting: WaitingSearch): Promise<void> {
    this.#exact++;
    this.#lastExactAt = performance.now();
    this.#noteWait("exact_search", waiting, this.#lastExactAt);
    // Counted down first, because the next search is chosen when the worker is free again.
    await this.#runSearches([waiting], () => this.#exact--);
  }

  /** Takes the next of the queue, at most so many and no more than fill a batch. */
  #runBatch(max: number): void {
    const searches: WaitingSearch[] = [];
    const lookups: WaitingLookup[] = [];
    const full = this.#queue.work - this.#batchMs;
    const now = performance.now();
    while (searches.length + lookups.length < Math.min(max, SEARCH_BATCH_MAX)) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      this.#noteWait("request" in next ? "search" : "lookup", next, now);
      if ("request" in next) searches.push(next);
      else lookups.push(next);
      if (this.#queue.work <= full) break;
    }
    if (searches.length > 0) void this.#runSearches(searches);
    if (lookups.length > 0) void this.#runLookups(lookups);
  }

  async #runLookups(batch: readonly WaitingLookup[]): Promise<void> {
    this.#busy++;
    try {
      const replies = await this.runner.lookUpAll(batch.map(({ task }) => task));
      for (const [i, { resolve, reject }] of batch.entries()) {
        const reply = replies[i] as LookupReply;
        if ("reason" in reply) reject(new Error(`a lookup failed: ${reply.message}`));
        else resolve(reply);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#busy--;
      this.#flush();
    }
  }

  async #runSearches(batch: WaitingSearch[], onDone?: () => void): Promise<void> {
    const requests = batch.map((waiting) => waiting.request);
    this.#busy++;
    try {
      const transfer = requests.map((request) => request.body);
      const { replies, took } = await this.runner.run({ requests }, transfer);
      for (const [i, { request, waitMs, resolve }] of batch.entries()) {
        if (!request.exact) this.#recordCost(request.scopeId, took[i] as number);
        const reply = replies[i] as SearchReply;
        resolve("json" in reply ? Object.assign(reply, { waitMs }) : reply);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#busy--;
      onDone?.();
      this.#flush();
    }
  }

  #noteWait(kind: WaitKind, waiting: Waiting, now: number): void {
    waiting.waitMs = now - waiting.since;
    this.waited(kind, waiting.waitMs);
  }

  #recordCost(scopeId: string, milliseconds: number): void {
    const known = this.#costs.get(scopeId);
    if (known === undefined && this.#costs.size >= SEARCH_COSTS_MAX) this.#costs.clear();
    // A moving average, because a single slow search may only mean that a thread was interrupted.
    const cost = known === undefined ? milliseconds : known + (milliseconds - known) / 8;
    this.#costs.set(scopeId, cost);
  }
}

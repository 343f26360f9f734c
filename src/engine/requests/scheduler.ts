import {
  SEARCH_BATCH_MAX,
  SEARCH_BATCH_MIN_MS,
  SEARCH_EXACT_QUEUE_MAX,
} from "../../domain/limits.ts";
import { OVERLOADED } from "../../domain/problem/problem.ts";
import { FairQueue } from "../../ops/tenants/fair-queue.ts";
import { FairSemaphore } from "../../ops/tenants/fair-semaphore.ts";
import { CostTable } from "./cost-table.ts";
import type { EngineRequest, Reply } from "./request.ts";
import { FACETS_MAX_MS, run } from "./run.ts";
import { BATCHES_PER_WORKER, type WorkerPool } from "./worker-pool.ts";

const SEARCH_BATCH_MAX_MS = 2;
/** Target wait for a worker; the queue holds this much work. Further searches are answered with 503. */
const SEARCH_QUEUE_MS = 25;
/** The minimum capacity of the queue: a few dozen clients are not refused for slow searches. */
const SEARCH_QUEUE_MIN = 128;
/** A search that has waited longer is answered with 503 if its tenant has more than its share. */
const SEARCH_WAIT_MAX_MS = 250;
/** The work that a tenant may hand to the workers before it is the next tenant's turn. */
const SEARCH_QUANTUM_MS = 1;
/** Minimum interval between the starts of exact searches while other searches wait. */
const SEARCH_EXACT_INTERVAL_MS = 1_000;

interface Waiting {
  readonly request: EngineRequest;
  /** The time at which it began to wait. */
  readonly since: number;
  /** The wait for a worker, once the request runs. */
  waitMs: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

type WaitKind = EngineRequest["kind"] | "exact_search";

/** A request of a scope that has not been measured. */
const UNKNOWN_COST_MS = 1;

function waitKindOf(request: EngineRequest): WaitKind {
  return request.kind === "search" && request.exact ? "exact_search" : request.kind;
}

/**
 * Runs searches and lookups. A cheap request runs on this thread, without a hand-off, while the current turn of the
 * event loop has time left. The others wait in a queue that tenants share fairly, until the end of the turn or until a
 * worker is free, and are distributed in batches.
 *
 * The queue is bounded by the time that its work takes. A worker gets its next batch before it has finished the last
 * one when enough work waits. So workers do not idle while this thread is busy with refusing requests. No request
 * overtakes the batches of a worker, so batches are short: they grow with the duration of the event loop's turns, up to
 * SEARCH_BATCH_MAX_MS.
 *
 * An exact search takes long, so it always runs on a worker, and yields to other requests. All workers but one may run
 * exact searches; a single worker may, too. Each starts when no other request waits for a worker, and otherwise only
 * once per SEARCH_EXACT_INTERVAL_MS.
 */
export class Scheduler {
  readonly #queue: FairQueue<Waiting>;
  readonly #exactQueue: FairQueue<Waiting>;
  readonly #maxExact: number;
  /** Exact searches that are running, and when the last one started. */
  #exact = 0;
  #lastExactAt = Number.NEGATIVE_INFINITY;
  readonly #costs = new CostTable();
  /** The cost of the last request that was refused for lack of room. */
  #refusedCost = 0;
  /** Batches that the workers have. */
  #busy = 0;
  /** When the first request of this turn arrived. */
  #turnSince: number | undefined;
  /** The duration of recent turns of the event loop. */
  #turnMs = 0;
  /** The milliseconds for which requests have run on this thread in this turn. */
  readonly #inline: FairSemaphore;

  /**
   * @param maxInlineMs time per turn for requests of one tenant on this thread; the other tenants share as much again.
   *   0 leaves all requests to the workers
   * @param waited called with the milliseconds for which a request waited for a worker
   */
  constructor(
    private readonly pool: WorkerPool,
    private readonly maxInlineMs: number,
    private readonly waited: (kind: WaitKind, milliseconds: number) => void = () => {},
  ) {
    this.#inline = new FairSemaphore({ permits: 2 * maxInlineMs, freeAfterMs: 0 });
    this.#maxExact = Math.max(1, pool.workers - 1);
    const onDrop = ({ reject }: Waiting) => reject(OVERLOADED);
    this.#queue = new FairQueue({
      maxWork: SEARCH_QUEUE_MS * pool.workers,
      minLength: SEARCH_QUEUE_MIN,
      maxCost: SEARCH_QUEUE_MS / 4,
      quantum: SEARCH_QUANTUM_MS,
      maxWaitMs: SEARCH_WAIT_MAX_MS,
      onDrop,
    });
    this.#exactQueue = new FairQueue({ maxWork: SEARCH_EXACT_QUEUE_MAX, onDrop });
  }

  /** Requests that wait for a worker. */
  get queued(): number {
    return this.#queue.length + this.#exactQueue.length;
  }

  /** True while no worker runs a request and none waits for one. */
  get idle(): boolean {
    return this.#busy === 0 && this.queued === 0;
  }

  /** True when another request of the tenant, like the last that was refused, would be refused. */
  refuses(tenant: string): boolean {
    return !this.#queue.hasRoom(tenant, this.#refusedCost);
  }

  /** Runs a request, which is charged to its scope's tenant. Throws `overloaded`, or rejects with it later. */
  run(request: EngineRequest): Reply | Promise<Reply> {
    this.#flushAfterTurn();
    if (waitKindOf(request) === "exact_search") return this.#enqueue(this.#exactQueue, request, 1);
    const cost = this.#costs.expected(request);
    const isKnown = cost !== undefined && !this.#costs.varies(request);
    if (isKnown && this.#canRunInline(request, cost)) return this.#runInline(request);
    const reply = this.#enqueue(this.#queue, request, cost ?? UNKNOWN_COST_MS);
    // In a long turn, the workers do not wait for its end.
    if (this.#queue.work >= this.#batchMs * this.pool.workers) this.#flush();
    return reply;
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  /**
   * Tenants share the time of this thread. When the workers have enough to do, tenants with their share of the queue
   * leave this thread to the others. So a tenant with few requests does not wait for a worker.
   */
  #canRunInline({ scope }: EngineRequest, cost: number): boolean {
    if (this.#queue.work >= this.#batchMs && this.#queue.hasShare(scope.tenant)) return false;
    return this.maxInlineMs > 0 && this.#inline.hasRoom(scope.tenant, cost);
  }

  #runInline(request: EngineRequest): Reply {
    const startedAt = performance.now();
    const reply = run(request);
    this.#inline.charge(request.scope.tenant, performance.now() - startedAt);
    this.#recordCost(request, reply);
    return reply;
  }

  #enqueue(queue: FairQueue<Waiting>, request: EngineRequest, cost: number): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const waiting = { request, since: performance.now(), waitMs: 0, resolve, reject };
    if (queue.push(request.scope.tenant, waiting, cost)) return promise;
    if (queue === this.#queue) this.#refusedCost = cost;
    throw OVERLOADED;
  }

  /** Requests arrive in bursts, so those of one turn are collected before they are distributed. */
  #flushAfterTurn(): void {
    if (this.#turnSince !== undefined) return;
    const since = performance.now();
    this.#turnSince = since;
    setImmediate(() => {
      const turnMs = performance.now() - since;
      this.#turnMs = Math.max(turnMs, this.#turnMs + (turnMs - this.#turnMs) / 8);
      this.#turnSince = undefined;
      this.#flush();
    });
  }

  /** The work of a full batch: enough to last for a turn of the event loop. */
  get #batchMs(): number {
    return Math.min(Math.max(SEARCH_BATCH_MIN_MS, this.#turnMs), SEARCH_BATCH_MAX_MS);
  }

  #flush(): void {
    for (;;) {
      const free = this.pool.workers - this.#busy;
      if (free > 0 && this.#canRunExact()) {
        this.#runExact(this.#exactQueue.shift() as Waiting);
      } else if (this.#queue.length > 0 && (free > 0 || this.#canRunAhead())) {
        const batch = this.#nextBatch(Math.ceil(this.#queue.length / Math.max(1, free)));
        if (batch.length > 0) void this.#runBatch(batch);
      } else {
        return;
      }
    }
  }

  /** True when busy workers may get another batch. No later request can overtake it. */
  #canRunAhead(): boolean {
    if (this.#exact > 0 || this.#busy >= this.pool.workers * BATCHES_PER_WORKER) return false;
    return this.#queue.work >= this.#batchMs;
  }

  #canRunExact(): boolean {
    if (this.#exactQueue.length === 0 || this.#exact >= this.#maxExact) return false;
    if (this.#queue.length === 0) return true;
    return performance.now() - this.#lastExactAt >= SEARCH_EXACT_INTERVAL_MS;
  }

  #runExact(waiting: Waiting): void {
    this.#exact++;
    this.#lastExactAt = performance.now();
    // Counted down first, because the next search is chosen when the worker is free again.
    void this.#runBatch([waiting], () => this.#exact--);
  }

  /** Takes requests from the queue: at most this many, and no more than fill a batch. */
  #nextBatch(max: number): Waiting[] {
    const batch: Waiting[] = [];
    const full = this.#queue.work - this.#batchMs;
    while (batch.length < Math.min(max, SEARCH_BATCH_MAX)) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      batch.push(next);
      if (this.#queue.work <= full) break;
    }
    return batch;
  }

  async #runBatch(batch: readonly Waiting[], onDone?: () => void): Promise<void> {
    const now = performance.now();
    for (const waiting of batch) {
      waiting.waitMs = now - waiting.since;
      this.waited(waitKindOf(waiting.request), waiting.waitMs);
    }
    this.#busy++;
    try {
      const replies = await this.pool.run(batch.map(({ request }) => request));
      for (const [i, { request, waitMs, resolve }] of batch.entries()) {
        const reply = replies[i] as Reply;
        if (reply.status === "answered") reply.work.waitMs = waitMs;
        this.#recordCost(request, reply);
        resolve(reply);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#busy--;
      onDone?.();
      this.#flush();
    }
  }

  #recordCost(request: EngineRequest, reply: Reply): void {
    if (reply.status === "late") this.#costs.record(request, FACETS_MAX_MS, 0);
    if (reply.status !== "answered" || waitKindOf(request) === "exact_search") return;
    this.#costs.record(request, reply.work.tookMs, reply.json.length);
  }
}

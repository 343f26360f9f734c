import pTimeout from "p-timeout";
import { OVERLOADED } from "../problem/problem.ts";
import {
  INDEX_LOADS_AT_ONCE,
  INDEX_TENANT_LOADS_MAX,
  INDEX_TENANT_LOADS_WAITING_MAX,
} from "../shared/limits.ts";

/** A load that takes longer no longer delays the next one, and goes on beside it. */
const INDEX_LOAD_TURN_MS = 1_000;

/** A load that requests wait for. */
interface Load {
  readonly key: string;
  readonly begin: (tenant: string) => Promise<boolean>;
  readonly found: PromiseWithResolvers<boolean>;
  /** How many requests of each tenant wait for it. */
  readonly requests: Map<string, number>;
  begun: boolean;
}

function add(counts: Map<string, number>, tenant: string, more: number): void {
  const count = (counts.get(tenant) ?? 0) + more;
  if (count === 0) counts.delete(tenant);
  else counts.set(tenant, count);
}

/**
 * Loads that requests wait for. At most INDEX_LOADS_AT_ONCE run, and tenants take turns, so a tenant
 * waits for one load of each other tenant and not for all of them. A load that several tenants wait
 * for begins in the first of their turns. It holds its place for INDEX_LOAD_TURN_MS at most, and then
 * goes on beside the next: a project that takes minutes to load delays nobody for so long. A tenant
 * with INDEX_TENANT_LOADS_MAX running loads waits until one of them has ended.
 */
export class LoadQueue {
  /** Loads that wait or run, by key. */
  readonly #loads = new Map<string, Load>();
  /** Loads that wait to begin, by tenant. The tenants are in the order of their turns. */
  readonly #waiting = new Map<string, Set<Load>>();
  /** How many loads run, by the tenant in whose turn they began. */
  readonly #running = new Map<string, number>();
  /** Running loads that hold a place. */
  #placed = 0;

  constructor(private readonly turnMs = INDEX_LOAD_TURN_MS) {}

  /** Loads that wait or run. */
  get length(): number {
    return this.#loads.size;
  }

  /**
   * Waits until the load of this key has ended, and returns its result; undefined after `timeoutMs`.
   * `begin` starts it, and rejects for all requests if it rejects. It is not called when all requests have given up before.
   * Throws `overloaded` when INDEX_TENANT_LOADS_WAITING_MAX loads of the tenant wait already.
   */
  async wait(
    tenant: string,
    key: string,
    begin: Load["begin"],
    timeoutMs: number,
  ): Promise<boolean | undefined> {
    const found = Promise.withResolvers<boolean>();
    // All requests may have given up before it fails.
    found.promise.catch(() => {});
    const load = this.#loads.get(key) ?? { key, begin, found, requests: new Map(), begun: false };
    if (!load.begun) this.#enqueue(tenant, load);
    add(load.requests, tenant, 1);
    this.#beginNext();
    const fallback = () => undefined;
    try {
      return await pTimeout(load.found.promise, { milliseconds: timeoutMs, fallback });
    } finally {
      add(load.requests, tenant, -1);
      if (!load.begun && !load.requests.has(tenant)) this.#withdraw(tenant, load);
    }
  }

  #enqueue(tenant: string, load: Load): void {
    const own = this.#waiting.get(tenant) ?? new Set();
    if (own.size >= INDEX_TENANT_LOADS_WAITING_MAX && !own.has(load)) throw OVERLOADED;
    this.#waiting.set(tenant, own.add(load));
    this.#loads.set(load.key, load);
  }

  /** Removes a load that has not begun from the turns of a tenant. */
  #withdraw(tenant: string, load: Load): void {
    const own = this.#waiting.get(tenant);
    own?.delete(load);
    if (own?.size === 0) this.#waiting.delete(tenant);
    if (load.requests.size === 0) this.#loads.delete(load.key);
  }

  #beginNext(): void {
    while (this.#placed < INDEX_LOADS_AT_ONCE) {
      const next = this.#next();
      if (next === undefined) return;
      void this.#run(...next);
    }
  }

  /** The load that is next, and the tenant whose turn it is. */
  #next(): [tenant: string, load: Load] | undefined {
    for (const [tenant, own] of this.#waiting) {
      if ((this.#running.get(tenant) ?? 0) >= INDEX_TENANT_LOADS_MAX) continue;
      // Maps keep insertion order, so this ends the tenant's turn.
      this.#waiting.delete(tenant);
      this.#waiting.set(tenant, own);
      const [first] = own;
      return [tenant, first as Load];
    }
    return undefined;
  }

  async #run(tenant: string, load: Load): Promise<void> {
    load.begun = true;
    for (const waiter of load.requests.keys()) this.#withdraw(waiter, load);
    add(this.#running, tenant, 1);
    const endTurn = this.#takePlace();
    const found = await load.begin(tenant).then(
      (value) => () => load.found.resolve(value),
      (error: unknown) => () => load.found.reject(error),
    );
    this.#loads.delete(load.key);
    add(this.#running, tenant, -1);
    endTurn();
    this.#beginNext();
    found();
  }

  /** Takes a place for one turn. Returns a function that ends the turn before its time. */
  #takePlace(): () => void {
    let isPlaced = true;
    const end = () => {
      clearTimeout(timer);
      if (!isPlaced) return;
      isPlaced = false;
      this.#placed--;
      this.#beginNext();
    };
    const timer = setTimeout(end, this.turnMs);
    timer.unref();
    this.#placed++;
    return end;
  }
}

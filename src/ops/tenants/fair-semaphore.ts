import pTimeout from "p-timeout";
import { OVERLOADED, type Problem } from "../../domain/problem/problem.ts";
import { FairQueue } from "./fair-queue.ts";

interface SemaphoreOptions {
  /** The cost of all work that may be under way at once. */
  readonly permits: number;
  /**
   * The cost of one tenant's work that may be under way. By default as much as is free, so that one alone has half of
   * the permits, and there are always some left for another.
   */
  readonly tenantPermits?: number;
  /** The number of requests that may wait, 0 by default. Beyond it, the tenant with the most loses the newest. */
  readonly maxWaiting?: number;
  /** All permits are free again after this time, 0 for the turn of the event loop; by default each is released. */
  readonly freeAfterMs?: number;
  /** `lease` waits no longer; without a limit by default. */
  readonly waitMaxMs?: number;
  /** The problem of a request that has waited for too long; `overloaded` by default. */
  readonly late?: Problem;
  /** The milliseconds for which permits stay acquired after work that took `tookMs`; 0 by default. */
  readonly restMs?: (tenant: string, tookMs: number) => number;
}

interface Wanted {
  /** The cost of the work; a tenant's permits at most, and 1 by default. */
  readonly cost?: number;
  /** Aborted when the client has disconnected. */
  readonly signal?: AbortSignal;
}

/** Options of work that each tenant does one at a time, whatever other tenants do. */
export const SERIAL = {
  permits: Number.POSITIVE_INFINITY,
  tenantPermits: 1,
  maxWaiting: Number.POSITIVE_INFINITY,
} as const;

/** Releases acquired permits. A second call has no effect. */
export type Release = () => void;

interface Waiting {
  readonly tenant: string;
  readonly cost: number;
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

/** A bounded number of permits that tenants share. A request without one waits, and tenants take turns. */
export class FairSemaphore {
  readonly #acquired = new Map<string, number>();
  #taken = 0;
  readonly #waiting: FairQueue<Waiting>;

  constructor(private readonly options: SemaphoreOptions) {
    this.#waiting = new FairQueue({
      maxWork: options.maxWaiting ?? 0,
      onDrop: ({ refuse }) => refuse(OVERLOADED),
    });
  }

  /** The cost of the work that is under way. */
  get acquired(): number {
    return this.#taken;
  }

  /** How many requests of the tenant wait. */
  waiting(tenant: string): number {
    return this.#waiting.count(tenant);
  }

  /** True when the tenant would have no more than its share with work of this cost. */
  hasRoom(tenant: string, cost = 1): boolean {
    const free = this.options.permits - this.#taken;
    const { tenantPermits = free } = this.options;
    return cost <= free && (this.#acquired.get(tenant) ?? 0) + cost <= tenantPermits;
  }

  /** Acquires permits, now or later, until `release`. Throws `overloaded`, or rejects with it. */
  acquire(tenant: string, cost = 1): Promise<void> | undefined {
    if (this.waiting(tenant) === 0 && this.hasRoom(tenant, cost)) {
      this.charge(tenant, cost);
      return undefined;
    }
    const { promise, resolve: enter, reject: refuse } = Promise.withResolvers<void>();
    if (!this.#waiting.push(tenant, { tenant, cost, enter, refuse })) throw OVERLOADED;
    return promise;
  }

  /**
   * Acquires permits until the returned function is called. Rejects with `overloaded`, and with the problem of a late
   * request when it has waited for too long or its signal is aborted: a flood of requests neither queues up for long nor
   * goes on after its clients have left.
   */
  async lease(tenant: string, { cost = 1, signal }: Wanted = {}): Promise<Release> {
    const { tenantPermits = cost, late = OVERLOADED, restMs } = this.options;
    const { waitMaxMs: milliseconds = Number.POSITIVE_INFINITY } = this.options;
    const held = Math.min(cost, tenantPermits);
    const entered = this.acquire(tenant, held);
    const inTime = entered?.then(() => true) ?? true;
    const isInTime =
      inTime === true || (await pTimeout(inTime, { milliseconds, fallback: () => false }));
    if (!isInTime || signal?.aborted === true) {
      // A request in the queue passes its turn on later. A dropped request does not get a turn.
      void Promise.resolve(entered).then(
        () => this.release(tenant, held),
        () => {},
      );
      throw late;
    }
    const begun = performance.now();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const pauseMs = restMs?.(tenant, performance.now() - begun) ?? 0;
      if (pauseMs === 0) this.release(tenant, held);
      else setTimeout(() => this.release(tenant, held), pauseMs).unref();
    };
  }

  /** Does work with permits of the tenant. Rejects as `lease` does, without starting it. */
  async run<T>(tenant: string, work: () => Promise<T>, wanted?: Wanted): Promise<T> {
    const release = await this.lease(tenant, wanted);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Takes permits, whether or not there is room. */
  charge(tenant: string, cost = 1): void {
    const { freeAfterMs } = this.options;
    if (freeAfterMs === 0 && this.#taken === 0) setImmediate(() => this.#clear());
    else if (freeAfterMs !== undefined && this.#taken === 0) {
      setTimeout(() => this.#clear(), freeAfterMs);
    }
    this.#acquired.set(tenant, (this.#acquired.get(tenant) ?? 0) + cost);
    this.#taken += cost;
  }

  /** Releases permits of `acquire` or `charge`. */
  release(tenant: string, cost = 1): void {
    const held = (this.#acquired.get(tenant) as number) - cost;
    if (held === 0) this.#acquired.delete(tenant);
    else this.#acquired.set(tenant, held);
    this.#taken -= cost;
    this.#admit();
  }

  #clear(): void {
    this.#acquired.clear();
    this.#taken = 0;
    this.#admit();
  }

  #admit(): void {
    if (this.#waiting.length === 0) return;
    for (;;) {
      const next = this.#waiting.shift(({ tenant, cost }) => this.hasRoom(tenant, cost));
      if (next === undefined) return;
      this.charge(next.tenant, next.cost);
      next.enter();
    }
  }
}

import { OVERLOADED } from "../problem/problem.ts";
import { FairQueue } from "./fair-queue.ts";

interface GateOptions {
  /** What may be inside at once, in the unit of the costs. */
  readonly places: number;
  /**
   * What one tenant may have inside. By default as much as is free, so that one alone has half of the places,
   * and there are always some left for another.
   */
  readonly tenantPlaces?: number;
  /** The number of requests that may wait, 0 by default. Beyond it, the tenant with the most loses the newest. */
  readonly maxWaiting?: number;
  /** All places are free again after this time, 0 for the turn of the event loop; by default who enters leaves. */
  readonly freeAfterMs?: number;
}

interface Waiting {
  readonly tenant: string;
  readonly cost: number;
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

/** A bounded number of places that tenants share. Who finds none waits, and tenants take turns. */
export class TenantGate {
  readonly #inside = new Map<string, number>();
  #taken = 0;
  readonly #waiting: FairQueue<Waiting>;

  constructor(private readonly options: GateOptions) {
    this.#waiting = new FairQueue({
      maxWork: options.maxWaiting ?? 0,
      onDrop: ({ refuse }) => refuse(OVERLOADED),
    });
  }

  /** What is inside. */
  get inside(): number {
    return this.#taken;
  }

  /** How many of the tenant wait. */
  waiting(tenant: string): number {
    return this.#waiting.count(tenant);
  }

  /** True when the tenant would have no more than its share inside with so much more. */
  hasRoom(tenant: string, cost = 1): boolean {
    const free = this.options.places - this.#taken;
    const { tenantPlaces = free } = this.options;
    return cost <= free && (this.#inside.get(tenant) ?? 0) + cost <= tenantPlaces;
  }

  /** Takes places, now or later; what one tenant may have at most. Throws `overloaded`, or rejects with it. */
  enter(tenant: string, cost = 1): Promise<void> | undefined {
    if (this.waiting(tenant) === 0 && this.hasRoom(tenant, cost)) {
      this.hold(tenant, cost);
      return undefined;
    }
    const { promise, resolve: enter, reject: refuse } = Promise.withResolvers<void>();
    if (!this.#waiting.push(tenant, { tenant, cost, enter, refuse })) throw OVERLOADED;
    return promise;
  }

  /** Does work inside. Throws `overloaded` without starting it. */
  async run<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    await this.enter(tenant);
    try {
      return await work();
    } finally {
      this.leave(tenant);
    }
  }

  /** Takes so much, whether or not there is room. */
  hold(tenant: string, cost = 1): void {
    const { freeAfterMs } = this.options;
    if (freeAfterMs === 0 && this.#taken === 0) setImmediate(() => this.#clear());
    else if (freeAfterMs !== undefined && this.#taken === 0) {
      setTimeout(() => this.#clear(), freeAfterMs);
    }
    this.#inside.set(tenant, (this.#inside.get(tenant) ?? 0) + cost);
    this.#taken += cost;
  }

  /** Frees what `enter` has taken. */
  leave(tenant: string, cost = 1): void {
    const held = (this.#inside.get(tenant) as number) - cost;
    if (held === 0) this.#inside.delete(tenant);
    else this.#inside.set(tenant, held);
    this.#taken -= cost;
    this.#admit();
  }

  #clear(): void {
    this.#inside.clear();
    this.#taken = 0;
    this.#admit();
  }

  #admit(): void {
    if (this.#waiting.length === 0) return;
    for (;;) {
      const next = this.#waiting.shift(({ tenant, cost }) => this.hasRoom(tenant, cost));
      if (next === undefined) return;
      this.hold(next.tenant, next.cost);
      next.enter();
    }
  }
}

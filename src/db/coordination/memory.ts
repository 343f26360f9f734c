import { COORDINATION_VALUES_MAX_BYTES } from "../../domain/limits.ts";
import { Budget } from "../../ops/tenants/budget.ts";
import type { Acquired, Coordinator } from "./coordinator.ts";

/** Writes between two removals of expired entries. */
const COORDINATION_SWEEP_WRITES = 1_000;

interface Held {
  token: symbol;
  until: number;
}

interface Stored {
  readonly owner: string;
  readonly value: string;
  readonly until: number;
}

/** Bytes that a value takes in addition to its texts. */
const VALUE_OVERHEAD_BYTES = 256;

/**
 * Values with an expiry. Their owners share COORDINATION_VALUES_MAX_BYTES. Beyond it, the owner who holds the most
 * loses the oldest, so an owner with many values does not evict those of others.
 */
class Values {
  readonly #values = new Map<string, Stored>();
  readonly #keys = new Budget<string>(COORDINATION_VALUES_MAX_BYTES, (_, oldest) =>
    this.#delete(oldest),
  );

  get(key: string, moment: number): string | null {
    const stored = this.#values.get(key);
    return stored !== undefined && stored.until > moment ? stored.value : null;
  }

  /** Stores a value, unless it alone needs more bytes than the owner can get. */
  set(key: string, stored: Stored): void {
    const { owner } = stored;
    this.#delete(key);
    const bytes = sizeOf(key, stored);
    while (!this.#keys.claim(owner, key, bytes)) {
      const oldest = this.#keys.oldest(owner);
      if (oldest === undefined) return;
      this.#delete(oldest);
    }
    this.#values.set(key, stored);
  }

  dropExpired(moment: number): void {
    for (const key of expired(this.#values, moment)) this.#delete(key);
  }

  #delete(key: string): void {
    const stored = this.#values.get(key);
    if (stored === undefined) return;
    this.#values.delete(key);
    this.#keys.release(stored.owner, key);
  }
}

/** An upper bound of the memory that a value takes: two bytes per UTF-16 code unit. */
function sizeOf(key: string, { value }: Stored): number {
  return VALUE_OVERHEAD_BYTES + 2 * (key.length + value.length);
}

/**
 * The keys of expired entries, the oldest first, up to the first one that has not expired: up to a hundred thousand
 * cursors are not looked at. An entry with a shorter life than an older one is dropped after that.
 */
export function* expired(
  entries: ReadonlyMap<string, { readonly until: number }>,
  moment: number,
): Generator<string> {
  for (const [key, { until }] of entries) {
    if (until > moment) return;
    yield key;
  }
}

/** Coordination within one process, for a single server. */
export function createMemoryCoordinator(now: () => number = Date.now): Coordinator {
  const leases = new Map<string, Held>();
  const values = new Values();
  const counters = new Map<string, { readonly total: number; readonly until: number }>();
  let writes = 0;

  function sweep(): void {
    if (++writes % COORDINATION_SWEEP_WRITES !== 0) return;
    const moment = now();
    for (const expiring of [leases, counters]) {
      for (const [name, { until }] of expiring) if (until <= moment) expiring.delete(name);
    }
    values.dropExpired(moment);
  }

  return {
    async acquire(name, ttlMs): Promise<Acquired> {
      sweep();
      const held = leases.get(name);
      if (held !== undefined && held.until > now()) return { heldForMs: held.until - now() };
      const token = Symbol(name);
      leases.set(name, { token, until: now() + ttlMs });
      const ownLease = () => {
        const current = leases.get(name);
        return current?.token === token && current.until > now() ? current : undefined;
      };
      return {
        lease: {
          name,
          async renew(extraMs) {
            const current = ownLease();
            if (current !== undefined) current.until = now() + extraMs;
            return current !== undefined;
          },
          async release() {
            if (leases.get(name)?.token === token) leases.delete(name);
          },
        },
      };
    },
    async put(key, value, { owner, ttlSeconds }) {
      sweep();
      values.set(key, { owner, value, until: now() + ttlSeconds * 1000 });
    },
    async get(key) {
      return values.get(key, now());
    },
    async add(amounts, ttlSeconds) {
      sweep();
      return [...amounts].map(([key, amount]) => {
        const counted = counters.get(key);
        const isCurrent = counted !== undefined && counted.until > now();
        const total = (isCurrent ? counted.total : 0) + amount;
        counters.set(key, { total, until: now() + ttlSeconds * 1000 });
        return total;
      });
    },
    async check() {
      return null;
    },
    async close() {},
  };
}

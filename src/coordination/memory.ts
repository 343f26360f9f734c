import { COORDINATION_VALUES_MAX, COORDINATION_VALUES_MAX_BYTES } from "../shared/limits.ts";
import type { Acquired, Coordinator } from "./coordinator.ts";

/** Expired entries of the coordinator in memory are removed every so many writes. */
const COORDINATION_SWEEP_WRITES = 1_000;

interface Held {
  token: symbol;
  until: number;
}

/** Values with an expiry, bounded in number and bytes. Beyond a bound the oldest are dropped. */
class Values {
  readonly #values = new Map<string, { value: string; until: number }>();
  #bytes = 0;

  get(key: string, moment: number): string | null {
    const stored = this.#values.get(key);
    return stored !== undefined && stored.until > moment ? stored.value : null;
  }

  set(key: string, value: string, until: number): void {
    // Deleting first moves the key to the end: maps keep the order of insertion.
    this.#delete(key);
    this.#values.set(key, { value, until });
    this.#bytes += sizeOf(key, value);
    for (const oldest of this.#values.keys()) {
      const isOver =
        this.#values.size > COORDINATION_VALUES_MAX || this.#bytes > COORDINATION_VALUES_MAX_BYTES;
      if (!isOver) return;
      this.#delete(oldest);
    }
  }

  dropExpired(moment: number): void {
    for (const [key, { until }] of this.#values) if (until <= moment) this.#delete(key);
  }

  clear(): void {
    this.#values.clear();
    this.#bytes = 0;
  }

  #delete(key: string): void {
    const stored = this.#values.get(key);
    if (stored === undefined) return;
    this.#values.delete(key);
    this.#bytes -= sizeOf(key, stored.value);
  }
}

/** An upper bound of the text's memory: two bytes per UTF-16 code unit. */
function sizeOf(key: string, value: string): number {
  return 2 * (key.length + value.length);
}

/** Coordination within one process, for a single server. */
export function createMemoryCoordinator(now: () => number = Date.now): Coordinator {
  const leases = new Map<string, Held>();
  const values = new Values();
  let writes = 0;

  function sweep(): void {
    if (++writes % COORDINATION_SWEEP_WRITES !== 0) return;
    const moment = now();
    for (const [name, held] of leases) if (held.until <= moment) leases.delete(name);
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
    async put(key, value, ttlSeconds) {
      sweep();
      values.set(key, value, now() + ttlSeconds * 1000);
    },
    async get(key) {
      return values.get(key, now());
    },
    async add(amounts, ttlSeconds) {
      sweep();
      return [...amounts].map(([key, amount]) => {
        const name = `count:${key}`;
        const total = Number(values.get(name, now()) ?? 0) + amount;
        values.set(name, String(total), now() + ttlSeconds * 1000);
        return total;
      });
    },
    async check() {
      return null;
    },
    async close() {
      leases.clear();
      values.clear();
    },
  };
}

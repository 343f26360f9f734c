import { COORDINATION_SWEEP_WRITES } from "../shared/limits.ts";
import type { Acquired, Coordinator } from "./coordinator.ts";

interface Held {
  token: symbol;
  until: number;
}

/** Coordination within one process, for a single server. */
export function createMemoryCoordinator(now: () => number = Date.now): Coordinator {
  const leases = new Map<string, Held>();
  const values = new Map<string, { value: string; until: number }>();
  let writes = 0;

  function sweep(): void {
    if (++writes % COORDINATION_SWEEP_WRITES !== 0) return;
    const moment = now();
    for (const [name, held] of leases) if (held.until <= moment) leases.delete(name);
    for (const [key, stored] of values) if (stored.until <= moment) values.delete(key);
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
      values.set(key, { value, until: now() + ttlSeconds * 1000 });
    },
    async get(key) {
      const stored = values.get(key);
      return stored !== undefined && stored.until > now() ? stored.value : null;
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

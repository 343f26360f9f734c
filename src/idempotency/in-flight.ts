import type { Acquired, Coordinator } from "../coordination/coordinator.ts";
import { LEASE_MS, LEASE_RENEW_MS } from "../shared/limits.ts";

export interface InFlight<T> {
  /** Runs while nobody else works under this name, as far as the coordinator can tell. */
  readonly work: () => Promise<T>;
  /** Runs instead when somebody does, for at most `heldForMs` more unless they renew. */
  readonly busy: (heldForMs: number) => Promise<T>;
}

/**
 * Keeps two attempts from running at once. It only makes them orderly: when the coordinator is
 * away the work is done without a lease, and the database decides between rivals.
 */
export async function inFlight<T>(
  coordinator: Coordinator,
  name: string,
  { work, busy }: InFlight<T>,
): Promise<T> {
  let acquired: Acquired;
  try {
    acquired = await coordinator.acquire(name, LEASE_MS);
  } catch {
    return await work();
  }
  if ("heldForMs" in acquired) return await busy(acquired.heldForMs);
  const { lease } = acquired;
  const renewal = setInterval(() => void lease.renew(LEASE_MS), LEASE_RENEW_MS);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    // Nobody waits for this: who comes too early is told by the database.
    void lease.release();
  }
}

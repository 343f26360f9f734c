import type { Acquired, Coordinator } from "../coordination/coordinator.ts";
import type { Sql } from "../db/client.ts";
import type { FailpointTrigger } from "../shared/failpoints.ts";
import { LEASE_MS, LEASE_RENEW_MS } from "../shared/limits.ts";

/** What work under a lease needs. */
export interface LeasedServices {
  readonly sql: Sql;
  readonly coordinator: Coordinator;
  readonly baseUrl: string;
  readonly failpoint: FailpointTrigger;
}

interface LeasedWork<T> {
  /** Runs while the lease is held, or without one when the coordinator is unavailable. */
  readonly work: () => Promise<T>;
  /** Runs instead while another holder has the lease, for `heldForMs` unless it renews. */
  readonly busy: (heldForMs: number) => Promise<T>;
}

/**
 * Runs `work` under the named lease, so that two attempts do not usually run at once. Correctness
 * does not depend on it: without a coordinator there is no lease, and the database decides between
 * concurrent attempts.
 */
export async function withLease<T>(
  coordinator: Coordinator,
  name: string,
  { work, busy }: LeasedWork<T>,
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
    // The answer does not wait for the release: an attempt that comes before it is refused as busy
    // or decided by the database.
    void lease.release();
  }
}

import { LEASE_MS, LEASE_RENEW_MS } from "../../domain/limits.ts";
import type { FailpointTrigger } from "../../ops/failpoints.ts";
import type { Sql } from "../client.ts";
import type { Acquired, Coordinator } from "../coordination/coordinator.ts";

/** The services for work under a lease. */
export interface LeasedServices {
  readonly sql: Sql;
  readonly coordinator: Coordinator;
  readonly baseUrl: string;
  readonly failpoint: FailpointTrigger;
}

interface LeasedWork<T> {
  /** Runs while the lease is held, or without one when the coordinator is unavailable. */
  readonly work: () => Promise<T>;
  /** Runs instead while another holder has the lease, which expires in `heldForMs` unless it is renewed. */
  readonly busy: (heldForMs: number) => Promise<T>;
}

/**
 * Runs `work` under the named lease, so that two attempts rarely run concurrently. Correctness does not depend on the
 * lease: while the coordinator is unavailable, work runs without it, and the database decides between concurrent
 * attempts.
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
    // The answer does not wait for the release. An attempt that arrives before it is refused as busy, or the database
    // decides.
    void lease.release();
  }
}

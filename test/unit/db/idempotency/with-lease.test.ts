import { expect, test } from "bun:test";
import type { Coordinator } from "../../../../src/db/coordination/coordinator.ts";
import { withLease } from "../../../../src/db/idempotency/with-lease.ts";
import { LEASE_MS, LEASE_RENEW_MS } from "../../../../src/domain/limits.ts";
import { advance, useFakeClock } from "../../../../support/fake-clock.ts";

useFakeClock();

const busy = () => Promise.reject(new Error("the lease is held"));

/** A coordinator that grants every lease, and the calls that it gets. */
function grantingCoordinator() {
  const calls: string[] = [];
  const lease = {
    name: "name",
    async renew(ttlMs: number) {
      calls.push(`renew ${ttlMs}`);
      return true;
    },
    async release() {
      calls.push("release");
    },
  };
  const acquire = async (name: string, ttlMs: number) => {
    calls.push(`acquire ${name} ${ttlMs}`);
    return { lease };
  };
  return { coordinator: { acquire } as unknown as Coordinator, calls };
}

test("a lease is renewed for as long as the work takes, and then released once", async () => {
  const { coordinator, calls } = grantingCoordinator();
  const { promise, resolve } = Promise.withResolvers<string>();
  const leased = withLease(coordinator, "name", { work: () => promise, busy });
  await advance(2 * LEASE_RENEW_MS);
  expect(calls).toEqual([`acquire name ${LEASE_MS}`, `renew ${LEASE_MS}`, `renew ${LEASE_MS}`]);
  resolve("done");
  expect(await leased).toBe("done");
  await advance(2 * LEASE_RENEW_MS);
  expect(calls.slice(3)).toEqual(["release"]);
});

test("a lease is released when the work fails", async () => {
  const { coordinator, calls } = grantingCoordinator();
  const work = () => Promise.reject(new Error("the work failed"));
  await expect(withLease(coordinator, "name", { work, busy })).rejects.toThrow("the work failed");
  expect(calls).toEqual([`acquire name ${LEASE_MS}`, "release"]);
});

test("without a coordinator the work is done without a lease", async () => {
  const acquire = () => Promise.reject(new Error("away"));
  const coordinator = { acquire } as unknown as Coordinator;
  expect(await withLease(coordinator, "name", { work: async () => "done", busy })).toBe("done");
});

test("while another holds the lease, the work is not done", async () => {
  const acquire = async () => ({ heldForMs: 7 });
  const coordinator = { acquire } as unknown as Coordinator;
  const work = () => Promise.reject(new Error("done twice"));
  const told = await withLease<number>(coordinator, "name", { work, busy: async (ms) => ms });
  expect(told).toBe(7);
});

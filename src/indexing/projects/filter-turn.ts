import type { TenantGate } from "../../tenants/tenant-gate.ts";

/** How long work on fields waits at most until other such work of the same user is done. */
const FILTER_WAIT_MAX_MS = 500;

/** Does work on the fields of a project in a turn of its tenant; undefined, without beginning, if others take too long. */
export async function inTenantTurn<T>(
  gate: TenantGate,
  tenant: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const asked = performance.now();
  return await gate.run(tenant, async () => {
    return performance.now() - asked > FILTER_WAIT_MAX_MS ? undefined : await work();
  });
}

import { describe, expect, test } from "bun:test";
import type { Sql } from "../../../../src/db/client.ts";
import type { Coordinator } from "../../../../src/db/coordination/coordinator.ts";
import { readPayload } from "../../../../src/platform/webhooks/payload.ts";
import { deliver } from "../../../../src/platform/webhooks/service.ts";

const payload = readPayload(Buffer.from("{}"), "application/json");

/** Services with a database that answers each statement so, and the names of the leases that are asked for. */
function openServices(query: () => Promise<unknown[]>, acquire: Coordinator["acquire"]) {
  const leases: string[] = [];
  const coordinator = {
    acquire(name: string, ttlMs: number) {
      leases.push(name);
      return acquire(name, ttlMs);
    },
  } as Coordinator;
  const sql = query as unknown as Sql;
  return { services: { sql, coordinator, baseUrl: "http://localhost", failpoint() {} }, leases };
}

describe("the lease of a delivery", () => {
  test("is that of its webhook and key alone, whatever these consist of", async () => {
    const { services, leases } = openServices(
      async () => [],
      async () => ({ heldForMs: 1_000 }),
    );
    const pairs = [
      ...[
        ["a", "key"],
        ["b", "key"],
        ["a", "other"],
        ["a", "key"],
      ],
      ...[
        ["a:b", "c"],
        ["a", "b:c"],
        ["1:a", "k"],
        ["1", "a:k"],
      ],
    ];
    for (const [definition = "", key = ""] of pairs) {
      const told = deliver(services, definition, key, payload);
      await expect(told).rejects.toMatchObject({ slug: "idempotency-conflict" });
    }
    expect(leases[3]).toBe(leases[0] as string);
    expect(new Set(leases).size).toBe(pairs.length - 1);
  });
});

test("a delivery finds the event of another one that was stored between its statements", async () => {
  const taken = Object.assign(new Error("taken"), { code: "23505", constraint_name: "key" });
  const stored = { id: "of the other", payload: "{}", is_json: true };
  const answers = [Promise.reject(taken), Promise.resolve([{ ...stored, ...payload }])];
  const { services } = openServices(
    () => answers.shift() as Promise<unknown[]>,
    () => Promise.reject(new Error("away")),
  );
  const outcome = await deliver(services, "a", "key", payload);
  expect(outcome).toMatchObject({ isDuplicate: true, event: { id: "of the other" } });
});

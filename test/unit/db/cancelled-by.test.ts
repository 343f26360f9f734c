import { expect, test } from "bun:test";
import { cancelledBy } from "../../../src/db/cancelled-by.ts";
import type { Transaction } from "../../../src/db/client.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";
import { until } from "../../../support/until.ts";

const { sql } = await createTestDatabase();

/** Runs statements in a transaction that a signal cancels. */
const inTransaction = (signal: AbortSignal, work: (tx: Transaction) => Promise<unknown>) =>
  sql.begin((tx) => work(cancelledBy(tx as Transaction, signal)));

test("once nobody waits for a transaction, its statement is cancelled", async () => {
  const leaving = new AbortController();
  await sql.begin(async (holder) => {
    await holder`LOCK TABLE users IN ACCESS EXCLUSIVE MODE`;
    const outcome = inTransaction(leaving.signal, (tx) => tx`SELECT FROM users`).catch(
      (error: unknown) => error,
    );
    await until("the statement waits", async () => {
      const waiting = await sql`SELECT FROM pg_locks WHERE NOT granted
        AND relation = 'users'::regclass`;
      return waiting.count > 0;
    });
    leaving.abort();
    // A statement that takes too long ends with the same code.
    const message = "canceling statement due to user request";
    expect(await outcome).toMatchObject({ code: "57014", message });
  });
});

test("once nobody waits for a transaction, no other statement begins, and it rolls back", async () => {
  const leaving = new AbortController();
  const working = inTransaction(leaving.signal, async (tx) => {
    await tx`INSERT INTO users (id, name) VALUES (gen_random_uuid(), 'left')`;
    leaving.abort();
    await tx`SELECT 1`;
  });
  await expect(working).rejects.toThrow("the caller of the transaction has gone");
  expect(await sql`SELECT FROM users WHERE name = 'left'`).toHaveLength(0);
});

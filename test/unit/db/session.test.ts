import { expect, test } from "bun:test";
import { type DatabaseOptions, openDatabase } from "../../../src/db/client.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";

const { url } = await createTestDatabase();

/** How long sessions of a pool wait, whatever the server has as defaults. */
async function boundsOf(options: DatabaseOptions): Promise<Record<string, string>> {
  const sql = openDatabase(url, { connections: 1, ...options });
  const rows = await sql<{ name: string; setting: string }[]>`
    SELECT name, setting FROM pg_settings WHERE name LIKE '%\\_timeout'`;
  await sql.end();
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

test("statements and idle transactions of requests end by themselves, and waits for locks do not", async () => {
  expect(await boundsOf({})).toMatchObject({
    statement_timeout: "10000",
    idle_in_transaction_session_timeout: "15000",
    idle_session_timeout: "0",
    lock_timeout: "0",
  });
});

test("statements of commands do not end by themselves", async () => {
  const bounds = await boundsOf({ statementTimeoutMs: 0 });
  expect(bounds).toMatchObject({ statement_timeout: "0", lock_timeout: "0" });
});

import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { guardPool, withoutDeadlines } from "../../../src/db/outage/guarded-sql.ts";
import { OutageGuard } from "../../../src/db/outage/outage-guard.ts";
import { sessionOf } from "../../../src/db/session/session.ts";
import { onCleanup } from "../../../support/cleanup.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";
import { until } from "../../../support/until.ts";

const { sql: other, url } = await createTestDatabase();
const DEADLINES = { readMs: 100, writeMs: 100, transactionMs: 100 };
const NEVER_SENT = { code: "NEVER_SENT" };

/** A guarded pool with one connection, which waits for a lock while `work` runs. */
async function whileBusy(work: (sql: ReturnType<typeof guardPool>) => Promise<void>) {
  const guard = new OutageGuard({ url, suspectMs: 600_000, patienceMs: 0, onChange() {} });
  const base = postgres(url, { max: 1, connection: { ...sessionOf(url).parameters } });
  const sql = guardPool(base as never, guard, DEADLINES);
  onCleanup(() => sql.end());
  let busy: Promise<unknown> | undefined;
  await other.begin(async (holder) => {
    await holder`LOCK TABLE users IN ACCESS EXCLUSIVE MODE`;
    busy = withoutDeadlines(sql)`SELECT FROM users`.execute();
    await until("the connection is busy", async () => {
      const waiting = await other`
        SELECT FROM pg_locks WHERE NOT granted AND relation = 'users'::regclass`;
      return waiting.count > 0;
    });
    await work(sql);
  });
  await busy;
  // What is queued is sent before this.
  await withoutDeadlines(sql)`SELECT 1`;
}

test("a statement that is not sent by its deadline is never sent", async () => {
  const id = randomUUID();
  await whileBusy(async (sql) => {
    const stored = sql`INSERT INTO users (id, name) VALUES (${id}, 'late')`;
    expect(await stored.catch((error) => error)).toMatchObject(NEVER_SENT);
  });
  expect(await other`SELECT FROM users WHERE id = ${id}`).toHaveLength(0);
});

test("a statement whose connection opens after its deadline is never sent, and others use the connection", async () => {
  const guard = new OutageGuard({ url, suspectMs: 600_000, patienceMs: 0, onChange() {} });
  const opening = Promise.withResolvers<void>();
  const base = postgres(url, {
    max: 1,
    connection: { ...sessionOf(url).parameters },
    async socket(address: Parameters<OutageGuard["sockets"]["connect"]>[0]) {
      await opening.promise;
      return guard.sockets.connect(address);
    },
  } as never);
  const sql = guardPool(base as never, guard, DEADLINES);
  onCleanup(() => sql.end());
  const id = randomUUID();
  const stored = sql`INSERT INTO users (id, name) VALUES (${id}, 'late')`;
  expect(await stored.catch((error) => error)).toMatchObject(NEVER_SENT);
  opening.resolve();
  expect([...(await withoutDeadlines(sql)`SELECT 42 AS n`)]).toEqual([{ n: 42 }]);
  expect(await other`SELECT FROM users WHERE id = ${id}`).toHaveLength(0);
});

test("a transaction that has not begun by its deadline never begins", async () => {
  let begun = 0;
  await whileBusy(async (sql) => {
    const working = sql.begin(async () => void begun++);
    expect(await working.catch((error) => error)).toMatchObject(NEVER_SENT);
  });
  expect(begun).toBe(0);
});

test("during an outage nothing is handed to the driver", async () => {
  const asked: string[] = [];
  const base = Object.assign(
    () => {
      const query = { handler: () => void asked.push("query"), reject() {}, resolve() {} };
      return Object.assign(query, { strings: [""], cursor() {} });
    },
    { begin: async () => asked.push("transaction"), reserve: async () => asked.push("connection") },
  );
  const guard = { isDown: true, watch: () => () => {} };
  const sql = guardPool(base as never, guard as never, DEADLINES);
  const query = sql`SELECT 1` as unknown as { handler(same: unknown): void; reject: unknown };
  const refused = Promise.withResolvers<unknown>();
  query.reject = refused.resolve;
  query.handler(query);
  expect(await refused.promise).toMatchObject(NEVER_SENT);
  for (const work of [sql.begin(async () => {}), sql.reserve()]) {
    expect(await work.catch((error: unknown) => error)).toMatchObject(NEVER_SENT);
  }
  expect(asked).toEqual([]);
});

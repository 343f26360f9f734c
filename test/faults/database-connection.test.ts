import { describe, expect, test } from "bun:test";
import { openDatabase, type Sql } from "../../src/db/client.ts";
import { isUnavailable } from "../../src/db/errors.ts";
import { DB_READ_DEADLINE_MS } from "../../src/domain/limits.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { until } from "../../support/until.ts";

const { sql: admin, url } = await createTestDatabase();
await admin`CREATE TABLE marks (name text)`;

function pool(connections: number) {
  const sql = openDatabase(url, { connections });
  onCleanup(() => sql.end({ timeout: 1 }));
  return sql;
}

const kill = (pid: number) => admin`SELECT pg_terminate_backend(${pid})`;
const marks = async () => (await admin`SELECT name FROM marks`).map(({ name }) => name);

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error) => error,
  );
}

/** Repeats a query until the pool answers: queries just after the break may fail as well. */
async function untilBack(sql: Sql): Promise<void> {
  await until("the pool answers", async () => {
    const error = await errorOf(sql`SELECT 1`.then(() => {}));
    if (error !== undefined) expect(isUnavailable(error)).toBe(true);
    return error === undefined;
  });
}

describe("a connection that breaks", () => {
  test("a connection that breaks in a statement fails only that statement", async () => {
    const sql = pool(1);
    for (let round = 0; round < 3; round++) {
      const [row] = await sql`SELECT pg_backend_pid() AS pid`;
      const sleeping = errorOf(sql`SELECT pg_sleep(30)`.then(() => {}));
      await kill(row?.pid);
      expect(isUnavailable(await sleeping)).toBe(true);
      await untilBack(sql);
    }
  });

  test("a connection that breaks in a transaction's statement fails only the transaction", async () => {
    const sql = pool(2);
    for (let round = 0; round < 3; round++) {
      const error = await errorOf(
        sql.begin(async (tx) => {
          await tx`INSERT INTO marks VALUES ('torn')`;
          const [row] = await tx`SELECT pg_backend_pid() AS pid`;
          const sleeping = tx`SELECT pg_sleep(30)`.then(() => {});
          sleeping.catch(() => {});
          await kill(row?.pid);
          await sleeping;
        }),
      );
      expect(isUnavailable(error)).toBe(true);
    }
    expect(await marks()).toEqual([]);
    await untilBack(sql);
    await sql.begin((tx) => tx`SELECT 1`);
  });

  test("after a break between a transaction's statements no later one runs outside of it", async () => {
    const sql = pool(1);
    const error = await errorOf(
      sql.begin(async (tx) => {
        const [row] = await tx`SELECT pg_backend_pid() AS pid`;
        await kill(row?.pid);
        // The pool reconnects for the next query.
        await untilBack(sql);
        const [next] = await sql`SELECT pg_backend_pid() AS pid`;
        expect(next?.pid).not.toBe(row?.pid);
        await tx`INSERT INTO marks VALUES ('outside')`;
      }),
    );
    expect(isUnavailable(error)).toBe(true);
    expect(await marks()).toEqual([]);
    await untilBack(sql);
  });

  test("a connection that breaks between two batches of a cursor fails the cursor", async () => {
    const sql = pool(1);
    for (let round = 0; round < 3; round++) {
      let rows = 0;
      const reading = (async () => {
        for await (const batch of sql`
          SELECT pg_backend_pid() AS pid FROM generate_series(1, 100)`.cursor(10)) {
          rows += batch.length;
          await kill(batch[0]?.pid);
          await until("the backend has ended", async () => {
            const left = await admin`SELECT FROM pg_stat_activity WHERE pid = ${batch[0]?.pid}`;
            return left.length === 0;
          });
        }
      })();
      expect(isUnavailable(await errorOf(reading))).toBe(true);
      expect(rows).toBe(10);
      await untilBack(sql);
    }
  });

  test("a cursor returns all rows, however slowly they are consumed", async () => {
    const sql = pool(1);
    let rows = 0;
    for await (const batch of sql`SELECT FROM generate_series(1, 1000)`.cursor(400)) {
      rows += batch.length;
      await Bun.sleep(DB_READ_DEADLINE_MS + 500);
    }
    expect(rows).toBe(1_000);
    await untilBack(sql);
  });

  test("a read that takes too long is cancelled at its deadline, and a write goes on", async () => {
    const sql = pool(1);
    // Without the deadline it would succeed, or be cancelled by the server's own timeout.
    const reading = errorOf(sql`SELECT pg_sleep(30)`.then(() => {}));
    expect(isUnavailable(await reading)).toBe(true);
    // The only connection is free again, because the server has cancelled the statement.
    await untilBack(sql);
    const seconds = DB_READ_DEADLINE_MS / 1_000 + 1;
    await sql`CREATE TABLE slow AS SELECT pg_sleep(${sql.unsafe(String(seconds))}) IS NULL AS slept`;
    await sql.begin(async (tx) => {
      await tx`SELECT pg_sleep(${seconds})`;
      await tx`INSERT INTO slow VALUES (true)`;
    });
    const [row] = await sql`SELECT count(*)::int AS count FROM slow`;
    expect(row?.count).toBe(2);
  });

  test("a reserved connection that breaks fails its queries, and the pool continues", async () => {
    const sql = pool(1);
    const reserved = await sql.reserve();
    const [row] = await reserved`SELECT pg_backend_pid() AS pid`;
    await kill(row?.pid);
    await untilBack(sql);
    expect(isUnavailable(await errorOf(reserved`SELECT 1`.then(() => {})))).toBe(true);
    reserved.release();
    await untilBack(sql);
  });
});

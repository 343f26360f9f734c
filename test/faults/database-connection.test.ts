import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { openDatabase, type Sql } from "../../src/db/client.ts";
import { isUnavailable } from "../../src/db/errors.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { createTestDatabase } from "../../support/postgres.ts";

setDefaultTimeout(60_000);

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
async function isBack(sql: Sql): Promise<boolean> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const error = await errorOf(sql`SELECT 1`.then(() => {}));
    if (error === undefined) return true;
    expect(isUnavailable(error)).toBe(true);
    await Bun.sleep(50);
  }
  return false;
}

describe("a connection that breaks", () => {
  test("a connection that breaks in a statement fails only that statement", async () => {
    const sql = pool(1);
    for (let round = 0; round < 3; round++) {
      const [row] = await sql`SELECT pg_backend_pid() AS pid`;
      const sleeping = errorOf(sql`SELECT pg_sleep(30)`.then(() => {}));
      await kill(row?.pid);
      expect(isUnavailable(await sleeping)).toBe(true);
      expect(await isBack(sql)).toBe(true);
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
    expect(await isBack(sql)).toBe(true);
    await sql.begin((tx) => tx`SELECT 1`);
  });

  test("after a break between a transaction's statements no later one runs outside of it", async () => {
    const sql = pool(1);
    const error = await errorOf(
      sql.begin(async (tx) => {
        const [row] = await tx`SELECT pg_backend_pid() AS pid`;
        await kill(row?.pid);
        // The pool reconnects for the next query.
        expect(await isBack(sql)).toBe(true);
        const [next] = await sql`SELECT pg_backend_pid() AS pid`;
        expect(next?.pid).not.toBe(row?.pid);
        await tx`INSERT INTO marks VALUES ('outside')`;
      }),
    );
    expect(isUnavailable(error)).toBe(true);
    expect(await marks()).toEqual([]);
    expect(await isBack(sql)).toBe(true);
  });

  test("a reserved connection that breaks fails its queries, and the pool continues", async () => {
    const sql = pool(1);
    const reserved = await sql.reserve();
    const [row] = await reserved`SELECT pg_backend_pid() AS pid`;
    await kill(row?.pid);
    expect(await isBack(sql)).toBe(true);
    expect(isUnavailable(await errorOf(reserved`SELECT 1`.then(() => {})))).toBe(true);
    reserved.release();
    expect(await isBack(sql)).toBe(true);
  });
});

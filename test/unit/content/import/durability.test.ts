import { expect, test } from "bun:test";
import { OPERATOR } from "../../../../src/auth/audit/actor.ts";
import { importRecords } from "../../../../src/content/import/import-records.ts";
import { readBatches } from "../../../../src/content/import/records/batches.ts";
import { ImportSession } from "../../../../src/content/import/session.ts";
import { openDatabase, type Queryable } from "../../../../src/db/client.ts";
import { startOwnPostgres } from "../../../../support/processes/own-postgres.ts";

const server = await startOwnPostgres();
// Its background writer would make commits durable a moment later, whether an import waits for that or not.
await server.sql`ALTER SYSTEM SET wal_writer_delay = '10s'`;
await server.sql`SELECT pg_reload_conf()`;

async function settingOf(sql: Queryable): Promise<unknown> {
  const [row] = await sql`SELECT current_setting('synchronous_commit') AS value`;
  return row?.["value"];
}

/** The end of what was written to the log of PostgreSQL. */
async function endOfLog(sql: Queryable): Promise<string> {
  const [row] = await sql<{ end: string }[]>`SELECT pg_current_wal_insert_lsn()::text AS end`;
  return row?.end as string;
}

async function isDurable(end: string): Promise<boolean> {
  const [row] = await server.sql<{ durable: boolean }[]>`
    SELECT pg_current_wal_flush_lsn() >= ${end}::text::pg_lsn AS durable`;
  return row?.durable === true;
}

test("an import that is answered survives a power cut", async () => {
  const record = { record: "user", email: "somebody@example.com", name: "Somebody" };
  async function* input() {
    yield Buffer.from(JSON.stringify(record));
  }
  let lastStep: { setting: unknown; end: string } | undefined;
  const { imported } = await importRecords(
    server.sql,
    readBatches([{ name: "", size: null, open: input }], {}),
    {
      actor: OPERATOR,
      strict: false,
      onRejected() {},
      async finalStep({ sql }) {
        lastStep = { setting: await settingOf(sql), end: await endOfLog(sql) };
        return 0;
      },
    },
  );
  expect(imported.get("user")).toBe(1);
  expect(lastStep?.setting).toBe("on");
  expect(await isDurable(lastStep?.end as string)).toBe(true);
});

test("commits of an import are durable once it waits for them", async () => {
  const pool = openDatabase(server.url, { connections: 1, patience: "command" });
  const session = await ImportSession.open(pool);
  expect(await settingOf(session.sql)).toBe("off");
  await session.transaction(
    () => session.sql`INSERT INTO users (id, name) VALUES (gen_random_uuid(), '')`,
  );
  const end = await endOfLog(session.sql);
  await session.commitDurably();
  expect(await settingOf(session.sql)).toBe("on");
  expect(await isDurable(end)).toBe(true);
  await session.close();
  await pool.end();
});

test("commits of others that get the connection of an import are durable", async () => {
  const pool = openDatabase(server.url, { connections: 1, patience: "command" });
  const session = await ImportSession.open(pool);
  await session.close();
  expect(await settingOf(pool)).toBe("on");
  await pool.end();
});

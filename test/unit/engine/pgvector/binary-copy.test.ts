import { describe, expect, test } from "bun:test";
import { openDatabase } from "../../../../src/db/client.ts";
import { CopyRows, copyRows } from "../../../../src/engine/pgvector/replicator/binary-copy.ts";
import { onCleanup } from "../../../../support/cleanup.ts";
import { createTestDatabase } from "../../../../support/processes/postgres.ts";

const { url } = await createTestDatabase();
const sql = openDatabase(url, { connections: 1 });
onCleanup(() => sql.end({ timeout: 1 }));
await sql`CREATE TABLE copied (place integer PRIMARY KEY, name text NOT NULL)`;

const COLUMNS = ["place", "name"];
/** More than one message of the protocol, so that PostgreSQL refuses a row before it has read all. */
const MANY = 20_000;

const store = (rows: CopyRows) => sql.begin((tx) => copyRows(tx, "copied", COLUMNS, rows));
const places = async () => (await sql`SELECT place FROM copied`).map(({ place }) => place);

describe.each([1, MANY])("a COPY of %d rows", (count) => {
  const filled = (first: (rows: CopyRows) => unknown) => {
    const rows = new CopyRows();
    first(rows);
    for (let place = 2; place <= count; place++) rows.row(2).int4(place).text("any");
    return rows;
  };

  test.each([
    [
      "a value that cannot be read",
      "22P03",
      (rows: CopyRows) => rows.row(2).uuid(crypto.randomUUID()).text("any"),
    ],
    ["a value that a constraint forbids", "23502", (rows: CopyRows) => rows.row(2).int4(1).null()],
    ["another number of columns", "22P04", (rows: CopyRows) => rows.row(1).int4(1)],
  ])(
    "that PostgreSQL refuses for %s fails with its error, not by its deadline",
    async (_, code, first) => {
      const [before] = await sql`SELECT pg_backend_pid() AS pid`;
      // The deadline of a statement that is not answered has another code.
      await expect(store(filled(first))).rejects.toMatchObject({ code });
      const [after] = await sql`SELECT pg_backend_pid() AS pid`;
      expect(after?.pid).toBe(before?.pid);
      expect(await places()).toEqual([]);
    },
  );

  test("after one that was refused stores all rows", async () => {
    await store(filled((rows) => rows.row(2).int4(1).text("any")));
    expect((await places()).length).toBe(count);
    await sql`DELETE FROM copied`;
  });
});

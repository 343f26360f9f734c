import { expect, test } from "bun:test";
import { openDatabase } from "../../../src/db/client.ts";
import { ARRAY_ELEMENTS } from "../../../src/db/session/array-types.ts";
import { onCleanup } from "../../../support/cleanup.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";

const { url } = await createTestDatabase();
const sql = openDatabase(url, { connections: 1 });
onCleanup(() => sql.end());

const odd = [
  "",
  " ",
  "NULL",
  "null",
  'a"b',
  "a\\b",
  '\\"',
  "{a,b}",
  "a,b",
  "(a)",
  "é\n\t🚀",
  "\\x00",
];
const UUID = "11111111-2222-4333-8444-555555555555";
const VALUES: Readonly<Record<keyof typeof ARRAY_ELEMENTS, unknown[]>> = {
  bool: [true, false],
  bytea: [Buffer.from([0, 34, 92, 255]), Buffer.alloc(0)],
  name: odd,
  text: odd,
  varchar: odd,
  int2: [-1, 32_767],
  int4: [0, 2_147_483_647],
  oid: [4_294_967_295],
  float4: [0.5, -1.25],
  float8: [0.1, 1e300, Number.POSITIVE_INFINITY],
  int8: ["-1", "9223372036854775807"],
  timestamptz: [new Date("2026-01-02T03:04:05.678Z")],
  uuid: [UUID],
  json: [{ a: 'b"\\' }, [1, "NULL"]],
  jsonb: [{ a: 'b"\\,' }, [], "x"],
};

test.each(Object.keys(ARRAY_ELEMENTS))(
  "an array of %s comes back as it was given",
  async (name) => {
    // The driver takes the type of the first element for that of the array.
    const values = [null, ...(VALUES[name] as unknown[])];
    const type = `${name}[]`;
    const [row] = await sql.unsafe<object[]>(
      `SELECT $1::${type} AS given, '{}'::${type} AS empty`,
      [values as never],
    );
    expect(row).toEqual({ given: values, empty: [] });
    const [none] = await sql.unsafe<object[]>(`SELECT $1::${type} AS given`, [[]]);
    expect(none).toEqual({ given: [] });
    await expect(sql.unsafe(`SELECT $1::${type}`, [[undefined] as never])).rejects.toThrow(
      "undefined",
    );
  },
);

test("types of arrays have the ids of the catalogue, and every array of the schema is among them", async () => {
  const types = await sql<{ name: string; array: string }[]>`
    SELECT typname AS name, typarray AS array FROM pg_type
    WHERE typname = ANY (${Object.keys(ARRAY_ELEMENTS)}) AND typnamespace = 'pg_catalog'::regnamespace`;
  expect(Object.fromEntries(types.map(({ name, array }) => [name, array]))).toEqual(
    Object.fromEntries(
      Object.entries(ARRAY_ELEMENTS).map(([name, { array }]) => [name, array]),
    ) as never,
  );
  const columns = await sql<{ name: string }[]>`
    SELECT DISTINCT e.typname AS name FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid AND c.relnamespace = 'public'::regnamespace
    JOIN pg_type t ON t.oid = a.atttypid AND t.typcategory = 'A' JOIN pg_type e ON e.oid = t.typelem`;
  expect(columns.length).toBeGreaterThan(1);
  for (const { name } of columns) expect(Object.keys(ARRAY_ELEMENTS)).toContain(name);
});

test("a new session runs only the statements of its caller", async () => {
  const fresh = openDatabase(url, { connections: 1 });
  onCleanup(() => fresh.end());
  expect(await fresh`SELECT name FROM pg_prepared_statements`).toHaveLength(1);
});

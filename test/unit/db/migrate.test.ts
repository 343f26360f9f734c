import { expect, test } from "bun:test";
import { openDatabase } from "../../../src/db/client.ts";
import { migrate, requireSchema, schemaState, shippedMigrations } from "../../../src/db/migrate.ts";
import { createEmptyDatabase } from "../../../support/processes/postgres.ts";

const SERVICES = 3;

test("of services that start together on an empty database one migrates it, and the others find it migrated", async () => {
  const { url } = await createEmptyDatabase();
  const pools = Array.from({ length: SERVICES }, () =>
    openDatabase(url, { connections: 1, patience: "command" }),
  );
  const applied = await Promise.all(pools.map((sql) => migrate(sql)));
  await Promise.all(pools.map((sql) => sql.end()));
  const names = shippedMigrations().map(({ name }) => name);
  expect(applied.toSorted((a, b) => b.length - a.length)).toEqual([names, [], []]);
});

test("a database that lacks a migration is refused with the remedy, and migrated with a word of warning", async () => {
  const { sql } = await createEmptyDatabase();
  await migrate(sql);
  const shipped = shippedMigrations();
  const newest = shipped.at(-1)?.version ?? 0;
  const next = { version: newest + 1, name: "next", text: "CREATE TABLE next (id integer)" };
  const migrations = [...shipped, next];
  await expect(requireSchema(sql, migrations)).rejects.toThrow(
    `the database has schema ${newest}, and this version needs ${newest + 1}`,
  );
  const announced: string[] = [];
  expect(await migrate(sql, (line) => announced.push(line), migrations)).toEqual(["next"]);
  expect(announced).toEqual([
    expect.stringContaining(`from schema ${newest} to ${newest + 1}, after which earlier versions`),
  ]);
  await requireSchema(sql, migrations);
});

test("a database of a later version is refused", async () => {
  const { sql } = await createEmptyDatabase();
  await migrate(sql);
  const newer = (shippedMigrations().at(-1)?.version ?? 0) + 1;
  await sql`INSERT INTO schema_migrations (version, name) VALUES (${newer}, 'later')`;
  await expect(schemaState(sql)).rejects.toThrow("run a newer version");
});

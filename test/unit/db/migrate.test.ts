import { expect, test } from "bun:test";
import { openDatabase } from "../../../src/db/client.ts";
import { migrate, schemaState, shippedMigrations } from "../../../src/db/migrate.ts";
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

test("a database of a later version is refused", async () => {
  const { sql } = await createEmptyDatabase();
  await migrate(sql);
  const newer = (shippedMigrations().at(-1)?.version ?? 0) + 1;
  await sql`INSERT INTO schema_migrations (version, name) VALUES (${newer}, 'later')`;
  await expect(schemaState(sql)).rejects.toThrow("run a newer version");
});

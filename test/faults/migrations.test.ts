import { describe, expect, test } from "bun:test";
import { openDatabase } from "../../src/db/client.ts";
import { migrate, shippedMigrations } from "../../src/db/migrate.ts";
import { addEnvironment, addProject, addUser } from "../../support/accounts.ts";
import { attach, writeVersion } from "../../support/api/versions.ts";
import { createEmptyDatabase, createTestDatabase } from "../../support/processes/postgres.ts";
import { runCommand } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";

const SHIPPED = shippedMigrations();
const NEWEST = SHIPPED.at(-1)?.version as number;
/** A migration that changes a table to which every import writes. */
const NEXT = {
  version: NEWEST + 1,
  name: "next",
  text: "ALTER TABLE file_versions ADD COLUMN next integer",
};

describe("migrations", () => {
  test("of processes that start at once are applied by one of them, and the others wait for it", async () => {
    const { url } = await createEmptyDatabase();
    const pools = Array.from({ length: 3 }, () => openDatabase(url, { connections: 1 }));
    const applied = await Promise.all(pools.map((sql) => migrate(sql)));
    await Promise.all(pools.map((sql) => sql.end()));
    const longestFirst = applied.sort((a, b) => b.length - a.length);
    expect(longestFirst).toEqual([SHIPPED.map(({ name }) => name), [], []]);
  });

  test("that wait for a running import let everybody else pass, and go on after it", async () => {
    const { url, sql } = await createTestDatabase();
    const project = await addProject(sql, await addUser(sql), "kept");
    const environment = await addEnvironment(sql, project);
    const next = openDatabase(url, { connections: 1 });
    const { migrating } = await sql.begin(async (tx) => {
      const written = await writeVersion(tx as never, project, "a.md", []);
      await attach(tx as never, project, environment.id, [written]);
      const migrating = migrate(next, () => {}, [...SHIPPED, NEXT]);
      await until("the migration waits for the import", async () => {
        const waiting = await sql`SELECT FROM pg_locks WHERE NOT granted`;
        return waiting.length > 0;
      });
      // These wait behind the migration until it steps aside.
      expect(await sql`SELECT path FROM files`).toHaveLength(0);
      expect(await sql`SELECT id FROM file_versions`).toHaveLength(0);
      return { migrating };
    });
    expect(await migrating).toEqual([NEXT.name]);
    expect(await sql`SELECT next FROM file_versions`).toHaveLength(1);
    await next.end();
  });
});

test("a service refuses the database of a newer version in one line with the remedy", async () => {
  const { url, sql } = await createTestDatabase();
  await sql`INSERT INTO schema_migrations (version, name) VALUES (${NEWEST + 1}, 'future')`;
  const { status, stderr } = await runCommand(["serve"], { env: { DATABASE_URL: url } });
  expect(status).toBe(1);
  expect(stderr.trimEnd().split("\n").at(-1)).toBe(
    `tessera: the database has schema ${NEWEST + 1}, but this version supports only ${NEWEST}: run a newer version of Tessera`,
  );
  expect(stderr).not.toContain("    at ");
});

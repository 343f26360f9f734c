import { describe, expect, test } from "bun:test";
import { shippedMigrations } from "../../src/db/migrate.ts";
import { addApiKey, addEnvironment, addProject, addUser } from "../../support/accounts.ts";
import { addFile } from "../../support/content.ts";
import { createEmptyDatabase, type TestDatabase } from "../../support/postgres.ts";
import { runCommand, startServer } from "../../support/process.ts";
import { untilReady } from "../support/index-world.ts";
import { attach, base64Of, chunkOf, randomVector, writeVersion } from "../support/vectors.ts";

/** A database as an earlier version of the service left it. */
async function databaseAt(version: number): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  await database.sql.begin(async (tx) => {
    await tx`CREATE TABLE schema_migrations (version integer PRIMARY KEY, name text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now())`;
    for (const migration of shippedMigrations()) {
      if (migration.version > version) return;
      await tx.unsafe(migration.text);
      await tx`INSERT INTO schema_migrations (version, name)
        VALUES (${migration.version}, ${migration.name})`;
    }
  });
  return database;
}

const NEWEST = shippedMigrations().at(-1)?.version as number;

describe("an upgrade", () => {
  test.each([[NEWEST - 1], [6]])(
    "from schema %d keeps keys, projects and files, and searches them",
    async (version) => {
      const { sql, url } = await databaseAt(version);
      const user = await addUser(sql, "ada@example.com");
      const project = await addProject(sql, user, "kept");
      const { key } = await addApiKey(sql, user);
      const environment = await addEnvironment(sql, project);
      const vector = randomVector(768, 1);
      const chunk = chunkOf(vector);
      await sql.begin(async (tx) => {
        const written = await writeVersion(tx as never, project, "a.md", [chunk]);
        await attach(tx as never, project, environment.id, [written]);
      });
      await addFile(sql, project, "b.md", 2);

      const server = await startServer({ env: { DATABASE_URL: url } });
      await untilReady(server.url);
      const headers = { "x-api-key": key, "content-type": "application/json" };
      const chunks = await fetch(`${server.url}/projects/kept/chunks`, { headers });
      expect(((await chunks.json()) as { data: unknown[] }).data).toHaveLength(3);
      const found = await fetch(`${server.url}/projects/kept/environments/production/search`, {
        ...{ method: "POST", headers },
        body: JSON.stringify({ vector: base64Of(vector), dimension: 768 }),
      });
      const { data } = (await found.json()) as { data: Array<{ chunk: { id: string } }> };
      expect(data.map((hit) => hit.chunk.id)).toEqual([chunk.id]);
      const [row] = await sql`SELECT max(version)::integer AS version FROM schema_migrations`;
      expect(row?.["version"]).toBe(NEWEST);
      server.kill("SIGTERM");
      expect(await server.exited).toBe(0);
    },
  );

  test("services that start together migrate the database once", async () => {
    const { url, sql } = await databaseAt(NEWEST - 1);
    const env = { DATABASE_URL: url };
    const servers = await Promise.all([startServer({ env }), startServer({ env })]);
    const rows = await sql`SELECT version FROM schema_migrations WHERE version = ${NEWEST}`;
    expect(rows).toHaveLength(1);
    for (const server of servers) server.kill("SIGTERM");
    expect(await Promise.all(servers.map((server) => server.exited))).toEqual([0, 0]);
  });

  test("a database of a newer version is refused in one line with the remedy", async () => {
    const { url, sql } = await databaseAt(NEWEST);
    await sql`INSERT INTO schema_migrations (version, name) VALUES (${NEWEST + 1}, 'future')`;
    for (const command of ["migrate", "serve"]) {
      const result = await runCommand([command], { env: { DATABASE_URL: url } });
      expect(result.status).toBe(1);
      const lines = result.stderr.trimEnd().split("\n");
      expect(lines.at(-1)).toBe(
        `tessera: the database has schema ${NEWEST + 1}, but this version supports only ${NEWEST}: run a newer version of Tessera`,
      );
      expect(result.stderr).not.toContain("    at ");
    }
  });
});

import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase, type Sql } from "../../src/db/client.ts";
import { migrate, shippedMigrations } from "../../src/db/migrate.ts";
import { ChangeLog } from "../../src/indexing/changes/change-log.ts";
import {
  addApiKey,
  addEnvironment,
  addProject,
  addRelease,
  addUser,
} from "../../support/accounts.ts";
import { untilReady } from "../../support/api/index-world.ts";
import {
  attach,
  base64Of,
  chunkOf,
  randomVector,
  writeVersion,
} from "../../support/api/versions.ts";
import { addFile } from "../../support/content.ts";
import { cloneService } from "../../support/processes/clone.ts";
import { createEmptyDatabase, type TestDatabase } from "../../support/processes/postgres.ts";
import { runCommand, startServer, type TestServer } from "../../support/processes/process.ts";

/** Applies the migrations after version `from` up to version `to`. */
async function migrateTo(sql: Sql, from: number, to: number): Promise<void> {
  await sql.begin(async (tx) => {
    for (const { version, name, text } of shippedMigrations()) {
      if (version <= from || version > to) continue;
      await tx.unsafe(text);
      await tx`INSERT INTO schema_migrations (version, name) VALUES (${version}, ${name})`;
    }
  });
}

/** A database as an earlier version of the service left it. */
async function databaseAt(version: number): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  await database.sql`CREATE TABLE schema_migrations (version integer PRIMARY KEY, name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now())`;
  await migrateTo(database.sql, 0, version);
  return database;
}

/** The schema in which changes get their numbers at commit. */
const COMMIT_NUMBERS = 12;
/** The schema before those that change tables of contents. */
const BEFORE_CONTENTS = 14;
/** The schema in which releases are rows. */
const BEFORE_RELEASE_CONTENTS = 17;
const NEWEST = shippedMigrations().at(-1)?.version as number;

/** A list of allowed values may grow: the definition without the values that the earlier one lacks. */
function withoutFurtherValues(definition: string, earlier: string): string {
  return definition.replace(/, '[^']*'::text/g, (value) => (earlier.includes(value) ? value : ""));
}

describe("an upgrade", () => {
  test.each([
    [NEWEST - 1, 2],
    [6, 1],
  ])(
    "from schema %d by %d services at once keeps keys, projects and files, and searches them",
    async (version, services) => {
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

      const env = { DATABASE_URL: url };
      const servers = await Promise.all(
        Array.from({ length: services }, () => startServer({ env })),
      );
      const [server] = servers as [TestServer];
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
      const versions = await sql`SELECT version FROM schema_migrations WHERE version >= ${NEWEST}`;
      expect(versions.map((row) => row["version"])).toEqual([NEWEST]);
      for (const each of servers) each.kill("SIGTERM");
      expect(await Promise.all(servers.map(({ exited }) => exited))).toEqual(servers.map(() => 0));
    },
  );

  test("the numbers of changes wait for no transaction that changes scopes, and what it changes is logged", async () => {
    const { url, sql } = await databaseAt(COMMIT_NUMBERS - 1);
    const project = await addProject(sql, await addUser(sql), "kept");
    const environment = await addEnvironment(sql, project);
    await sql.begin(async (tx) => {
      const written = await writeVersion(tx as never, project, "a.md", []);
      await attach(tx as never, project, environment.id, [written]);
      const next = openDatabase(url, { connections: 1 });
      await migrateTo(next, COMMIT_NUMBERS - 1, COMMIT_NUMBERS);
      await next.end();
    });
    await sql`DELETE FROM environment_files WHERE project_id = ${project.id}`;
    const rows = await sql<{ ref: string }[]>`SELECT ref FROM change_log ORDER BY seq`;
    expect(rows.map(({ ref }) => ref)).toEqual([environment.id, environment.id]);
  });

  test("releases keep their files when they change from rows to differences, also those that are being filled", async () => {
    const { sql } = await databaseAt(BEFORE_RELEASE_CONTENTS);
    const project = await addProject(sql, await addUser(sql), "kept");
    const files = await Promise.all(["a.md", "b.md"].map((path) => addFile(sql, project, path, 1)));
    const versions = files.map(({ versionId }) => versionId).sort();
    const ids: string[] = [];
    for (const [name, held, frozen] of [
      ["frozen", files, true],
      ["half", files.slice(0, 1), true],
      ["open", files, false],
      ["empty", [], true],
    ] as const) {
      const { id } = await addRelease(sql, project, name);
      for (const { fileId, versionId } of held) {
        await sql`INSERT INTO release_files VALUES (${project.id}, ${id}, ${fileId}, ${versionId})`;
      }
      if (frozen) await sql`UPDATE releases SET frozen_at = now() WHERE id = ${id}`;
      ids.push(id);
    }
    const log = new ChangeLog(sql);
    const read = async (id: string) =>
      ((await log.versionsOf(project.id, { kind: "release", id })) ?? []).sort();
    await migrateTo(sql, BEFORE_RELEASE_CONTENTS, NEWEST);
    const kept = [versions, [files[0]?.versionId as string], versions, []];
    expect(await Promise.all(ids.map(read))).toEqual(kept);
    await sql`UPDATE releases SET frozen_at = now() WHERE id = ${ids[2] as string}`;
    expect(await Promise.all(ids.map(read))).toEqual(kept);
    const rows = await sql`SELECT DISTINCT release_id AS id FROM release_rows ORDER BY 1`;
    expect(rows.map(({ id }) => id)).toEqual(ids.slice(0, 2).sort());
    // As docs/operations.md turns them.
    const operations = await Bun.file(`${import.meta.dir}/../../docs/operations.md`).text();
    await sql.unsafe(/^DO \$\$$[\s\S]*?^END \$\$;$/m.exec(operations)?.[0] as string);
    expect(await Promise.all(ids.map(read))).toEqual(kept);
    expect(await sql`SELECT 1 FROM release_rows`).toHaveLength(0);
  });

  test("the version before releases were differences fills and reads releases until it is stopped", async () => {
    const { sql } = await databaseAt(NEWEST);
    const project = await addProject(sql, await addUser(sql), "kept");
    const environment = await addEnvironment(sql, project);
    const file = await addFile(sql, project, "a.md", 1);
    const { fileId, versionId } = file;
    await sql`INSERT INTO environment_files VALUES (${project.id}, ${environment.id}, ${fileId}, ${versionId})`;
    const [served, imported] = [
      await addRelease(sql, project, "served"),
      await addRelease(sql, project, "imported"),
    ];
    // As that version creates a release,
    await sql`
      INSERT INTO release_files (project_id, release_id, file_id, file_version_id)
      SELECT project_id, ${served.id}, file_id, file_version_id FROM environment_files
      WHERE environment_id = ${environment.id}`;
    // as it imports one,
    const filled = await sql`
      WITH applied AS (
        INSERT INTO release_files (project_id, release_id, file_id, file_version_id)
        VALUES (${project.id}, ${imported.id}, ${fileId}, ${versionId})
        ON CONFLICT DO NOTHING RETURNING release_id AS scope_id, file_id)
      SELECT scope_id FROM applied`;
    expect(filled.map((row) => row["scope_id"])).toEqual([imported.id]);
    await sql`UPDATE releases SET frozen_at = now() WHERE project_id = ${project.id}`;
    // and as its indexes read what any version has created.
    for (const { id } of [served, imported]) {
      const [row] = await sql`
        SELECT string_agg(f.file_version_id::text, ' ') AS versions
        FROM releases s LEFT JOIN release_files f ON f.release_id = s.id
        WHERE s.id = ${id} AND s.project_id = ${project.id} GROUP BY s.id`;
      expect(row?.["versions"]).toBe(versionId);
    }
  });

  test("a migration that waits for a running import lets everybody else pass, and goes on after it", async () => {
    const { url, sql } = await databaseAt(BEFORE_CONTENTS);
    const project = await addProject(sql, await addUser(sql), "kept");
    const environment = await addEnvironment(sql, project);
    const next = openDatabase(url, { connections: 1 });
    const migration = sql.begin(async (tx) => {
      const written = await writeVersion(tx as never, project, "a.md", []);
      await attach(tx as never, project, environment.id, [written]);
      const migrating = migrate(next);
      const waits = () => sql`SELECT 1 FROM pg_locks WHERE NOT granted`;
      while ((await waits()).length === 0) await Bun.sleep(5);
      // Behind the migration, until that steps aside.
      expect(await sql`SELECT path FROM files`).toHaveLength(0);
      expect(await sql`SELECT id FROM file_versions`).toHaveLength(0);
      return { migrating };
    });
    expect(await (await migration).migrating).not.toEqual([]);
    expect(await sql`SELECT title FROM file_versions`).toHaveLength(1);
    await next.end();
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

  test("processes of the previous version keep serving and indexing while the next one migrates and takes over", async () => {
    const { sql, url } = await databaseAt(NEWEST);
    const user = await addUser(sql, "ada@example.com");
    const project = await addProject(sql, user, "kept");
    await addEnvironment(sql, project, "production");
    const { key } = await addApiKey(sql, user);
    const traffic = trafficOf(key);
    const previous = await startServer({ env: { DATABASE_URL: url } });
    await untilReady(previous.url);
    await traffic.write(previous.url, "before.md");

    const stopTraffic = traffic.start(previous.url);
    const next = await startServer({ root: nextVersion(), env: { DATABASE_URL: url } });
    await untilReady(next.url);
    const [row] = await sql`SELECT max(version)::integer AS version FROM schema_migrations`;
    expect(row?.["version"]).toBe(NEWEST + 1);
    await traffic.write(previous.url, "by-previous.md");
    await traffic.write(next.url, "by-next.md");
    for (const { url } of [previous, next]) {
      await traffic.untilFound(url, ["before.md", "by-previous.md", "by-next.md"]);
    }
    const { answers, failures } = await stopTraffic();
    expect(failures).toEqual([]);
    expect(answers).toBeGreaterThan(5);
    previous.kill("SIGTERM");
    expect(await previous.exited).toBe(0);
    await traffic.write(next.url, "after.md");
    await traffic.untilFound(next.url, ["after.md"]);
    next.kill("SIGTERM");
    expect(await next.exited).toBe(0);
  });

  test("no migration takes away what the version before it reads, or refuses what it writes", async () => {
    const { sql } = await databaseAt(1);
    let before = await schemaOf(sql);
    for (let version = 2; version <= NEWEST; version++) {
      await migrateTo(sql, version - 1, version);
      const after = await schemaOf(sql);
      const views = new Set([...after.values()].filter((each) => each.isView).map((v) => v.table));
      for (const [name, { definition, table, columns }] of before) {
        const kept = after.get(name);
        // A view demands nothing. Its triggers accept what the table that it replaces did.
        if (kept?.isView === true) {
          expect(definition, `schema ${version}, ${name}`).toStartWith(kept.definition);
          continue;
        }
        if (views.has(table) && columns.length > 0) continue;
        const known = withoutFurtherValues(kept?.definition ?? "", definition);
        expect({ ...kept, definition: known }, `schema ${version}, ${name}`).toMatchObject({
          definition,
          table,
        });
      }
      const added = [...after].filter(([name]) => !before.has(name));
      const known = new Set([...before.values()].map(({ table }) => table));
      const demanding = added.filter(
        ([, { definition, table, columns }]) =>
          known.has(table) &&
          definition.endsWith("required") &&
          columns.every((column) => before.has(`column ${table}.${column}`)),
      );
      expect(demanding, `schema ${version}`).toEqual([]);
      before = after;
    }
  });
});

interface SchemaPart {
  readonly name: string;
  readonly table: string;
  readonly definition: string;
  readonly columns: readonly string[];
  readonly isView: boolean;
}

/**
 * The columns and constraints of a schema by name. What writers must provide or obey is `required`;
 * `columns` are those that a constraint is about. Rows that are there may be left unchecked.
 */
async function schemaOf(sql: Sql) {
  const rows = await sql<SchemaPart[]>`
    SELECT format('column %s.%s', c.table_name, c.column_name) AS name, c.table_name AS table,
      concat_ws(' ', c.data_type, CASE WHEN c.is_nullable = 'NO' AND c.column_default IS NULL
        AND c.is_identity = 'NO' AND c.is_generated = 'NEVER' THEN 'required' END) AS definition,
      '{}'::text[] AS columns, NOT EXISTS (SELECT FROM information_schema.tables t
        WHERE t.table_name = c.table_name AND t.table_type = 'BASE TABLE') AS "isView"
    FROM information_schema.columns c WHERE c.table_schema = 'public'
    UNION ALL
    SELECT format('constraint %s.%s', conrelid::regclass, conname), conrelid::regclass::text,
      replace(pg_get_constraintdef(oid), ' NOT VALID', '') || ' required',
      ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY (conkey)),
      false
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'`;
  return new Map(rows.map(({ name, ...rest }) => [name, rest]));
}

/** A clone with one migration more, which changes tables that are in use. */
function nextVersion(): string {
  const clone = cloneService();
  const tables = [
    "users",
    "api_keys",
    "projects",
    "environments",
    "files",
    "file_versions",
    "chunks",
  ];
  const file = `${String(NEWEST + 1).padStart(4, "0")}_next.sql`;
  writeFileSync(
    join(clone, "src", "db", "migrations", file),
    `CREATE TABLE next_things (id integer PRIMARY KEY);
    ${tables.map((table) => `ALTER TABLE ${table} ADD COLUMN next integer DEFAULT 1;`).join("\n")}
    ALTER TABLE change_log ADD COLUMN next integer NOT NULL DEFAULT 1;
    CREATE INDEX next_files ON files (next);`,
  );
  return clone;
}

/** Requests of a client with this key to the project `kept`. */
function trafficOf(key: string) {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const post =
    (path: string, body: string, type = headers["content-type"]) =>
    (url: string) =>
      fetch(`${url}/projects/kept/${path}`, {
        ...{ method: "POST", body, headers: { ...headers, "content-type": type } },
      });
  const vector = base64Of(randomVector(768, 1));
  const lookup = post("knowledge/lookup", JSON.stringify({ limit: 12 }));
  const search = post("environments/production/search", JSON.stringify({ vector, dimension: 768 }));
  const file = (path: string) => ({
    record: "file",
    path,
    environments: ["production"],
    content: path,
  });
  const write = (path: string) =>
    post("import", JSON.stringify(file(path)), "application/x-ndjson");
  const pathsOf = async (url: string): Promise<string[]> => {
    const { data } = (await (await lookup(url)).json()) as { data: { path: string }[] };
    return data.map(({ path }) => path);
  };
  return {
    async write(url: string, path: string) {
      expect((await write(path)(url)).status).toBe(200);
    },
    async untilFound(url: string, paths: readonly string[]) {
      for (const end = Date.now() + 60_000; ; await Bun.sleep(50)) {
        const found = await pathsOf(url);
        if (paths.every((path) => found.includes(path))) return;
        expect(Date.now(), found.join()).toBeLessThan(end);
      }
    },
    /** Sends requests until the returned function is called. */
    start(url: string) {
      const chunks = () => fetch(`${url}/projects/kept/chunks`, { headers });
      const requests = [lookup, search, chunks, write("busy.md")];
      const failures: string[] = [];
      let [answers, running] = [0, true];
      const done = (async () => {
        for (; running; await Bun.sleep(10)) {
          for (const request of requests) {
            const response = await request(url);
            if (!response.ok) failures.push(await response.text());
            answers++;
          }
        }
      })();
      return async () => {
        running = false;
        await done;
        return { answers, failures };
      };
    },
  };
}

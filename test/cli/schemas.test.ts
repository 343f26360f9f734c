import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import type { Sql } from "../../src/db/client.ts";
import { shippedMigrations } from "../../src/db/migrate.ts";
import { loadConfig } from "../../src/ops/config/load.ts";
import { serve } from "../../src/serve.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { jsonLines, ndjson } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from "../../support/processes/postgres.ts";
import { environment } from "../../support/processes/process.ts";
import { ADA, commandNames, dump } from "./support.ts";

const atOnce = pLimit(4);
const folder = temporaryFolder("schemas");
writeFileSync(join(folder, "a.ndjson"), ndjson([ADA]));
writeFileSync(join(folder, "a.md"), "# A\n");
const NEWEST = shippedMigrations().at(-1)?.version as number;

const project = ["--project", "docs"];
/** Arguments of each command that opens the database, which are complete. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  import: [join(folder, "a.ndjson")],
  "keys create": ["--user", "ada@example.com", "--name", "laptop"],
  "keys list": [],
  "keys revoke": ["tsr_abcdefgh", "--yes"],
  "keys rotate": ["tsr_abcdefgh"],
  "index status": [],
  "index rebuild": [...project],
  "vectors status": [],
  "vectors placements": [...project, "--count", "2"],
  "vectors add-worker": ["127.0.0.1:9"],
  "vectors rebalance": ["--dry-run"],
  "embeddings rebuild": [...project, "--embedder", "hashing"],
  "members add": ["ada@example.com", ...project],
  "members list": [...project],
  "members remove": ["ada@example.com", ...project, "--yes"],
  "projects list": [],
  "projects map": [],
  "projects default-quota": [],
  "projects delete": ["docs", "--yes"],
  "projects quota": ["docs"],
  "releases create": ["v1", ...project],
  "releases list": [...project],
  "environments list": [...project],
  "environments activate": ["production", "v1", ...project],
  "files list": [...project],
  "files remove": ["a.md", ...project, "--yes"],
  export: [],
  search: ["a", ...project],
  lookup: ["a", ...project],
  audit: [],
};
const MODELS = ["install", "list", "pull", "remove", "test"].map((name) => `models ${name}`);
/** They need no database, or are about its schema. */
const OTHERS = ["serve", "migrate", "doctor", "embed", "sync", "bench", ...MODELS];
/** Those that may be the first ones on a machine. */
const FIRST = ["import", "keys create"];

/** Runs all commands on a database, and returns what each answered. */
async function runAll({ url }: TestDatabase, names = Object.keys(ARGUMENTS)) {
  const run = (name: string) =>
    callCommand([...name.split(" "), ...(ARGUMENTS[name] as string[])], {
      env: { DATABASE_URL: url, VECTOR_DATABASE_URL: url },
    });
  return await Promise.all(
    names.map((name) => atOnce(async () => ({ name, ...(await run(name)) }))),
  );
}

/** Everything in the database, the migrations included. */
async function everything(sql: Sql) {
  const applied = await sql`SELECT to_regclass('schema_migrations')::text AS name`;
  if (applied[0]?.["name"] == null) return [await dump(sql)];
  return [await dump(sql), await sql`SELECT version FROM schema_migrations ORDER BY 1`];
}

/** Every command fails with this message in one line, and changes nothing. */
async function refusesAll(database: TestDatabase, message: string, names?: string[]) {
  const before = await everything(database.sql);
  for (const { name, status, stdout, stderr } of await runAll(database, names)) {
    expect({ name, status, stdout, stderr }).toEqual({
      name,
      status: 1,
      stdout: "",
      stderr: `tessera: ${message}\n`,
    });
  }
  expect(await everything(database.sql)).toEqual(before);
}

describe("commands and the schema of the database", () => {
  test("the cases below are all commands that there are", async () => {
    expect((await commandNames()).sort()).toEqual([...Object.keys(ARGUMENTS), ...OTHERS].sort());
  });

  test("on a schema from before 1.0.0 every command names the remedy, and changes nothing", async () => {
    const database = await createEmptyDatabase();
    const { url, sql } = database;
    await sql`CREATE TABLE schema_migrations (version integer PRIMARY KEY, name text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now())`;
    await sql`INSERT INTO schema_migrations VALUES (1, '0001_identity'), (2, '0002_content')`;
    const found =
      "the database was made by a version before 1.0.0 (its schema begins with 0001_identity)";
    const remedy =
      "export it with that version (./tessera export), and import the file into an empty database";
    await refusesAll(database, `${found}: ${remedy}`);
    const env = { DATABASE_URL: url };
    for (const command of [["migrate"], ["migrate", "--check"]]) {
      const { status, stderr } = await callCommand(command, { env });
      expect({ status, stderr }).toEqual({ status: 1, stderr: `tessera: ${found}: ${remedy}\n` });
    }
    const starting = serve(loadConfig(environment({ ...env, LOG_LEVEL: "silent" })));
    await expect(starting).rejects.toThrow(found);
  });

  test("on a newer schema every command asks for a newer version, and changes nothing", async () => {
    const database = await createTestDatabase();
    await database.sql`INSERT INTO schema_migrations VALUES (${NEWEST + 1}, 'future')`;
    await refusesAll(
      database,
      `the database has schema ${NEWEST + 1}, but this version supports only ${NEWEST}: run a newer version of Tessera`,
    );
  });

  test("a database that does not store text as UTF-8 is refused by every command, and by the service", async () => {
    const database = await createEmptyDatabase("ENCODING LATIN1 LOCALE_PROVIDER libc LOCALE 'C'");
    const remedy =
      "create a database with `createdb --template=template0 --encoding=UTF8`, let the URL name it, and move " +
      "the contents of this one with pg_dump and pg_restore";
    const found = "the database stores text as LATIN1, and Tessera needs UTF8";
    await refusesAll(database, `${found}: ${remedy}`);
    const env = { DATABASE_URL: database.url };
    for (const command of [["migrate"], ["migrate", "--check"]]) {
      const { status, stderr } = await callCommand(command, { env });
      expect({ status, stderr }).toEqual({ status: 1, stderr: `tessera: ${found}: ${remedy}\n` });
    }
    const starting = serve(loadConfig(environment({ ...env, LOG_LEVEL: "silent" })));
    await expect(starting).rejects.toThrow(found);
    const { status, stdout } = await callCommand(["doctor", "--json"], { env });
    expect(status).toBe(1);
    const findings = jsonLines(stdout);
    expect(findings).toContainEqual({ check: "database", state: "failed", found, remedy });
  });

  test("on an empty database only commands that may be the first one create the tables", async () => {
    const names = Object.keys(ARGUMENTS).filter((name) => !FIRST.includes(name));
    await refusesAll(
      await createEmptyDatabase(),
      "the database has no tables yet: start the service, or run: ./tessera migrate",
      names,
    );
    for (const name of FIRST) {
      const database = await createEmptyDatabase();
      expect(await runAll(database, [name])).toMatchObject([{ status: 0 }]);
      expect(await database.sql`SELECT email FROM users`).toEqual([{ email: ADA.email }] as never);
    }
  });

  test("on a damaged database no command shows where in the code it failed", async () => {
    const database = await createTestDatabase();
    await database.sql`DROP TABLE projects, users, api_keys, index_state, audit_log CASCADE`;
    for (const { name, status, stderr } of await runAll(database)) {
      expect(stderr, name).not.toMatch(/^ +at /m);
      if (status !== 0) expect(stderr.trim(), name).toMatch(/^tessera: .+$/);
    }
    const { stdout, stderr } = await callCommand(["doctor"], {
      env: { DATABASE_URL: database.url },
    });
    expect(stderr).toBe("");
    expect(stdout).not.toMatch(/^ +at /m);
    expect(stdout).toContain("restore a backup");
  });

  test("LOG_LEVEL=debug shows where in the code a command failed", async () => {
    const database = await createTestDatabase();
    await database.sql`DROP TABLE projects CASCADE`;
    const env = { DATABASE_URL: database.url, LOG_LEVEL: "debug" };
    expect((await callCommand(["projects", "list"], { env })).stderr).toMatch(/^ +at /m);
  });

  test("tables in a schema where sessions do not look are named, and no others are created beside them", async () => {
    const database = await createTestDatabase();
    await database.sql`ALTER SCHEMA public RENAME TO tessera_tables`;
    await database.sql`CREATE SCHEMA public`;
    const found =
      "the tables of Tessera are in the schema tessera_tables, where sessions do not look";
    for (const command of [["migrate"], ["projects", "list"]]) {
      const { status, stderr } = await callCommand(command, {
        env: { DATABASE_URL: database.url },
      });
      expect({ status, stderr }).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(found),
      });
    }
    for (const query of ["search_path=tessera_tables", "options=-csearch_path%3Dtessera_tables"]) {
      const env = { DATABASE_URL: `${database.url}?${query}` };
      expect((await callCommand(["migrate", "--check"], { env })).status).toBe(0);
      expect((await callCommand(["projects", "list"], { env })).status).toBe(0);
    }
  });
});

describe("migrate", () => {
  test("--check prints the pending migrations, exits 1 and changes nothing; after migrate it exits 0", async () => {
    const { url, sql } = await createEmptyDatabase();
    const migrate = (...options: string[]) =>
      callCommand(["migrate", ...options], { env: { DATABASE_URL: url } });
    const pending = shippedMigrations().map(({ name }) => name);
    const lines = (word: string) => pending.map((name) => `${word} ${name}\n`).join("");
    expect(await migrate("--check")).toEqual({ status: 1, stdout: lines("pending"), stderr: "" });
    expect(await everything(sql)).toEqual([{}]);
    expect(await migrate()).toEqual({ status: 0, stdout: lines("applied"), stderr: "" });
    for (const options of [["--check"], []]) {
      expect(await migrate(...options)).toEqual({
        status: 0,
        stdout: "the database is up to date\n",
        stderr: "",
      });
    }
  });
});

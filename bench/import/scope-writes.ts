/**
 * Changes of scopes per second by 16 projects at once, as a ratio to the same statements without a
 * change log.
 *
 *   bun bench/import/scope-writes.ts [--writers 16] [--seconds 3] [--rounds 3] [--schema 11]
 *
 * Each writer has a connection and a project of its own. A transaction replaces the version of a file
 * in an environment; a longer one sends five further statements after that, as an import with several
 * scopes does. `--schema` is an earlier schema to compare with. "No lock" is this schema without the
 * lock that orders the change log: no kind of lock could be faster.
 */
import { openDatabase, type Sql } from "../../src/db/client.ts";
import { shippedMigrations } from "../../src/db/migrate.ts";
import { addEnvironment, addProject, addUser } from "../../support/accounts.ts";
import { type BenchContext, runBenchmark } from "../../support/bench/context.ts";
import type { BenchDatabase } from "../../support/bench/database.ts";
import { secondsSince } from "../../support/bench/table.ts";
import { addFile } from "../../support/content.ts";
import { median } from "../../support/statistics.ts";

export const OPTIONS = { writers: 16, seconds: 3, rounds: 3, schema: 11 };
type Options = typeof OPTIONS;

const FURTHER_STATEMENTS = 5;

type Tables = { readonly sql: Sql; readonly environments: readonly string[] };

/** A database with the schema of this version, and a project with two versions of a file per writer. */
async function tablesAt(
  server: BenchDatabase,
  name: string,
  { writers, version }: { readonly writers: number; readonly version: number },
  settings: Readonly<Record<string, string>> = {},
): Promise<Tables> {
  await server.sql.unsafe(`CREATE DATABASE ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  const sql = openDatabase(url.href, {
    ...{ connections: writers, statementTimeoutMs: 0, settings },
  });
  for (const migration of shippedMigrations()) {
    if (migration.version <= version) await sql.unsafe(migration.text);
  }
  const user = await addUser(sql);
  const environments: string[] = [];
  for (let i = 0; i < writers; i++) {
    const project = await addProject(sql, user, `project-${i}`);
    const { id } = await addEnvironment(sql, project);
    const { fileId } = await addFile(sql, project, "a.md", 1);
    await sql`
      INSERT INTO file_versions (id, project_id, file_id, version_key)
      VALUES (gen_random_uuid(), ${project.id}, ${fileId}, 'other')`;
    await sql`
      INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
      SELECT project_id, ${id}, file_id, id FROM file_versions
      WHERE file_id = ${fileId} AND version_key = 'other'`;
    environments.push(id);
  }
  return { sql, environments };
}

/** Commits per second of all writers together. */
async function commitsPerSecond(
  { sql, environments }: Tables,
  statements: number,
  seconds: number,
): Promise<number> {
  const started = performance.now();
  let commits = 0;
  const write = async (environment: string) => {
    while (secondsSince(started) < seconds) {
      await sql.begin(async (tx) => {
        await tx`
          UPDATE environment_files e SET file_version_id = v.id FROM file_versions v
          WHERE e.environment_id = ${environment} AND v.file_id = e.file_id
            AND v.id <> e.file_version_id`;
        for (let i = 1; i < statements; i++) await tx`SELECT 1`;
      });
      commits++;
    }
  };
  await Promise.all(environments.map(write));
  return commits / secondsSince(started);
}

/** Changes get their numbers in any order. */
async function withoutLock(sql: Sql): Promise<void> {
  const [row] = await sql<{ text: string }[]>`
    SELECT pg_get_functiondef('number_changes'::regproc) AS text`;
  await sql.unsafe((row?.text ?? "").replace(/PERFORM pg_advisory_xact_lock[^;]*;/, ""));
}

/** The schemas to compare, by name; the first is the baseline. */
async function variantsOf(
  server: BenchDatabase,
  { writers, schema }: Options,
): Promise<Map<string, Tables>> {
  const newest = { writers, version: shippedMigrations().length };
  const unlocked = await tablesAt(server, "unlocked", newest);
  await withoutLock(unlocked.sql);
  // Triggers do not run in this mode.
  const bare = await tablesAt(server, "bare", newest, { session_replication_role: "replica" });
  return new Map([
    ["no change log", bare],
    [`schema ${schema}`, await tablesAt(server, "earlier", { writers, version: schema })],
    ["this schema", await tablesAt(server, "current", newest)],
    ["no lock", unlocked],
  ]);
}

interface Figure {
  readonly name: string;
  /** How many statements a transaction has. */
  readonly statements: number;
  readonly commitsPerSecond: number;
  /** Of the schema without a change log. */
  readonly ratio: number;
}

/** The medians of all schemas, for transactions of so many statements. */
async function measure(
  variants: ReadonlyMap<string, Tables>,
  statements: number,
  { seconds, rounds }: Options,
): Promise<Figure[]> {
  const commits = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, tables] of variants) {
      const figure = await commitsPerSecond(tables, statements, seconds);
      commits.set(name, [...(commits.get(name) ?? []), figure]);
    }
  }
  const [base = 0] = [...commits.values()].map(median);
  return [...commits].map(([name, values]) => {
    const each = median(values);
    return { name, statements, commitsPerSecond: each, ratio: each / base };
  });
}

export async function run(options: Options, context: BenchContext): Promise<Figure[]> {
  const { out } = context;
  const variants = await variantsOf(await context.openDatabase(), options);
  const figures = [
    ...(await measure(variants, 1, options)),
    ...(await measure(variants, 1 + FURTHER_STATEMENTS, options)),
  ];
  out.head("transaction", "commits/s", "of no change log");
  for (const { name, statements, commitsPerSecond, ratio } of figures) {
    const what = `${statements} ${statements === 1 ? "statement" : "statements"}, ${name}`;
    out.row(what, Math.round(commitsPerSecond), ratio.toFixed(2));
  }
  for (const { sql } of variants.values()) await sql.end();
  return figures;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "../../src/db/client.ts";
import { base64Of } from "../../src/domain/vector.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { ndjson } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";
import { createTestDatabase, type TestDatabase } from "../../support/processes/postgres.ts";
import { type CommandResult, environment, PROJECT_ROOT } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";

export type TestCli = {
  readonly database: TestDatabase;
  readonly sql: Sql;
  /** Runs a command on the database of this test. */
  run(args: readonly string[], stdin?: string | Uint8Array): Promise<CommandResult>;
  /** Writes records, or strings as raw lines, to a file and returns its path. */
  file(lines: readonly (object | string)[], name?: string): string;
  /** Writes records to a file and imports it. */
  import(lines: readonly (object | string)[], ...options: string[]): Promise<CommandResult>;
};

export async function openCli(): Promise<TestCli> {
  const database = await createTestDatabase();
  const folder = temporaryFolder("import");
  let files = 0;
  const run = (args: readonly string[], stdin?: string | Uint8Array) =>
    callCommand(args, {
      env: { DATABASE_URL: database.url },
      ...(stdin === undefined ? {} : { stdin }),
    });
  const file = (lines: readonly (object | string)[], name = `${++files}.ndjson`) => {
    const path = join(folder, name);
    writeFileSync(path, ndjson(lines));
    return path;
  };
  return {
    database,
    sql: database.sql,
    run,
    file,
    import: (lines, ...options) => run(["import", ...options, file(lines)]),
  };
}

/** The commands without subcommands, as the help names them. */
export async function commandNames(command: readonly string[] = []): Promise<string[]> {
  const { stdout } = await callCommand([...command, "--help"]);
  const section = /^Commands:\n((?: {2}.*\n)+)/m.exec(stdout)?.[1] ?? "";
  const names = [...section.matchAll(/^ {2}(\w[\w-]*)/gm)].map(([, name = ""]) => name);
  const own = names
    .filter((name) => name !== "help")
    .map((name) => commandNames([...command, name]));
  return own.length === 0 ? [command.join(" ")] : (await Promise.all(own)).flat();
}

/** Resolves when a command that waits for something has asked the database for it several times. */
export async function untilLooked(sql: Sql): Promise<void> {
  const looks = new Set<string>();
  await until("the waiting command has looked three times", async () => {
    const rows = await sql<{ at: string }[]>`
      SELECT query_start::text AS at FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'tessera-cli'`;
    for (const { at } of rows) looks.add(at);
    return looks.size >= 3;
  });
}

const SKIPPED_TABLES = [
  "index_nodes",
  "schema_migrations",
  "database_identity",
  "service_secrets",
  "index_state",
  "audit_log",
  // Entries of the audit log are counted.
  "quota_deltas",
  "quota_usage",
];

/** All rows of all tables as text, to compare two states of the database. */
export async function dump(
  sql: Sql,
  options: { readonly without?: readonly string[] } = {},
): Promise<Record<string, string[]>> {
  const tables = await sql<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`;
  const state: Record<string, string[]> = {};
  for (const { name } of tables) {
    if (SKIPPED_TABLES.includes(name) || options.without?.includes(name)) continue;
    const rows = await sql.unsafe<{ row: string }[]>(
      `SELECT row_to_json(t)::text AS row FROM ${name} t ORDER BY 1`,
    );
    state[name] = rows.map(({ row }) => row);
  }
  return state;
}

/** Path to version key of the files in a scope. */
export async function contentsOf(
  sql: Sql,
  kind: "environment" | "release",
  name: string,
): Promise<Record<string, string>> {
  const rows = await sql.unsafe<{ path: string; key: string }[]>(
    `SELECT f.path, v.version_key AS key FROM ${kind}_files s JOIN files f ON f.id = s.file_id
     JOIN file_versions v ON v.id = s.file_version_id
     JOIN ${kind}s o ON o.id = s.${kind}_id WHERE o.name = $1 ORDER BY f.path`,
    [name],
  );
  return Object.fromEntries(rows.map(({ path, key }) => [path, key]));
}

export const ADA = { record: "user", email: "ada@example.com", name: "Ada" };
export const DOCS = { record: "project", slug: "docs", name: "Docs", owner: "ada@example.com" };
export const PRODUCTION = { record: "environment", project: "docs", name: "production" };
/** The records that most `file` records refer to. */
export const FRAME = [ADA, DOCS, PRODUCTION];

/** A vector of small integers, which every encoding represents exactly. */
export function vector(dimension: number, seed: number): number[] {
  return Array.from({ length: dimension }, (_, i) => ((i * 7 + seed * 13) % 11) - 5);
}

export const base64Vector = (dimension: number, seed: number): string =>
  base64Of(Float32Array.from(vector(dimension, seed)));

/** Files with ten chunks each, as lines of NDJSON. */
export function* largeFiles(from: number, to: number, contentChars = 0): Generator<string> {
  const embedding = base64Vector(768, 3);
  for (let i = from; i < to; i++) {
    const record = {
      record: "file",
      project: "docs",
      path: `large/${i}.md`,
      environments: ["production"],
      releases: ["v1"],
      chunks: Array.from({ length: 10 }, (_, j) => ({
        content: `chunk ${i}.${j}`.padEnd(contentChars),
        embedding,
      })),
    };
    yield ndjson([record]);
  }
}

/** Starts an import in a process of its own. */
export function spawnImport(variables: Readonly<Record<string, string>>, ...args: string[]) {
  const child = Bun.spawn([process.execPath, "src/cli/main.ts", "import", ...args], {
    cwd: PROJECT_ROOT,
    env: environment(variables),
    stdin: "pipe",
    stdout: "ignore",
    stderr: "pipe",
  });
  onCleanup(() => child.kill("SIGKILL"));
  return child;
}

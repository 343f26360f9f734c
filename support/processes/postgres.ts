import { createHash, randomBytes } from "node:crypto";
import { openDatabase, type Sql } from "../../src/db/client.ts";
import { migrate, shippedMigrations } from "../../src/db/migrate.ts";
import { onCleanup, startShared } from "../cleanup.ts";
import { memoryFolder } from "../folders.ts";
import { openOnPort, removeLeftovers } from "./embedded.ts";

/** Variable in which the test runner passes the URL of one PostgreSQL to all its processes. */
export const SERVER_VARIABLE = "TESSERA_TEST_POSTGRES";

/**
 * Nothing waits for the disk, because data of tests need not survive a crash of the machine. It does
 * survive the death of any process, PostgreSQL's included: the system keeps the written pages.
 */
const SETTINGS = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "400",
  shared_buffers: "64MB",
  autovacuum: "off",
} as const;

/**
 * What statements mean by default is what the service does not expect, so that each test also shows that its
 * sessions ask for what they rely on.
 */
export const UNEXPECTED_SETTINGS = {
  bytea_output: "escape",
  datestyle: "German, DMY",
  intervalstyle: "sql_standard",
  timezone: "Asia/Kathmandu",
  array_nulls: "off",
  extra_float_digits: "-15",
  standard_conforming_strings: "off",
  escape_string_warning: "off",
  search_path: "pg_catalog",
  default_transaction_isolation: "serializable",
  default_transaction_read_only: "on",
  row_security: "off",
  transform_null_equals: "on",
  lock_timeout: "1",
  idle_session_timeout: "1000",
} as const;
/** The language with the most unusual letters: the lower case of I is no i. */
const LOCALE = "LOCALE_PROVIDER icu ICU_LOCALE 'tr'";

/** Advisory lock under which one test process at a time creates the template. */
const TEMPLATE_LOCK = 7305_0001;

export type TestDatabase = {
  /** `postgres://…`, as in DATABASE_URL. */
  readonly url: string;
  readonly sql: Sql;
  /** Drops the database and its open connections. Runs automatically after the last test. */
  drop(): Promise<void>;
};

/** Starts a PostgreSQL for tests in a temporary folder and returns its URL. */
export async function startPostgres(): Promise<string> {
  await removeLeftovers();
  const folder = memoryFolder("postgres");
  const server = await openOnPort(folder, { ...SETTINGS, ...UNEXPECTED_SETTINGS });
  onCleanup(() => server.close());
  return server.url;
}

/** A new database with the current schema and no rows, copied from a template in milliseconds. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(await template());
}

/** A new database without a schema. `clauses` say how it stores and sorts text. */
export function createEmptyDatabase(clauses = LOCALE): Promise<TestDatabase> {
  return createDatabase(`template0 ${clauses}`);
}

let serverUrl: Promise<string> | undefined;
let adminSql: Promise<Sql> | undefined;
let templateName: Promise<string> | undefined;

function server(): Promise<string> {
  serverUrl ??= Promise.resolve(process.env[SERVER_VARIABLE] ?? startShared(startPostgres));
  return serverUrl;
}

function admin(): Promise<Sql> {
  adminSql ??= startShared(async () => {
    const sql = openDatabase(await server(), { connections: 2, statementTimeoutMs: 0 });
    onCleanup(() => sql.end({ timeout: 5 }));
    return sql;
  });
  return adminSql;
}

function template(): Promise<string> {
  templateName ??= makeTemplate();
  return templateName;
}

/** The name contains a hash of the migrations, so each schema has its own template. */
async function makeTemplate(): Promise<string> {
  const hash = createHash("sha256");
  for (const { name, text } of shippedMigrations()) hash.update(`${name}\0${text}\0`);
  const name = `template_${hash.digest("hex").slice(0, 16)}`;
  await alone(async (connection) => {
    const [existing] =
      await connection`SELECT datistemplate FROM pg_database WHERE datname = ${name}`;
    if (!existing?.datistemplate) await fillTemplate(connection, name);
  });
  return name;
}

/** Does something while no other test process does. */
async function alone<T>(work: (connection: Sql) => Promise<T>): Promise<T> {
  const sql = await admin();
  const connection = await sql.reserve();
  try {
    await connection`SELECT pg_advisory_lock(${TEMPLATE_LOCK})`;
    return await work(connection);
  } finally {
    await connection`SELECT pg_advisory_unlock(${TEMPLATE_LOCK})`;
    connection.release();
  }
}

/** Does something once for all test processes, one after another. Its argument is the folder of their server. */
export function inServerFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  return alone(async (connection) => {
    const [row] = await connection<{ folder: string }[]>`
      SELECT current_setting('data_directory') AS folder`;
    return await work(row?.folder as string);
  });
}

/** The last step marks it as a template, so an interrupted one is created again. */
async function fillTemplate(connection: Sql, name: string): Promise<void> {
  await connection.unsafe(`DROP DATABASE IF EXISTS ${name}`);
  await connection.unsafe(`CREATE DATABASE ${name} TEMPLATE template0 ${LOCALE}`);
  const sql = openDatabase(databaseUrl(await server(), name), {
    connections: 1,
    patience: "command",
  });
  await migrate(sql);
  await sql.end();
  await connection.unsafe(`ALTER DATABASE ${name} IS_TEMPLATE true`);
}

async function createDatabase(templateDatabase: string): Promise<TestDatabase> {
  const name = `test_${process.pid}_${randomBytes(4).toString("hex")}`;
  const sql = await admin();
  // Copying files takes half of what logging every page does.
  await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${templateDatabase} STRATEGY FILE_COPY`);
  const url = databaseUrl(await server(), name);
  const connections = openDatabase(url, { connections: 8, patience: "command" });
  const drop = onCleanup(async () => {
    await connections.end({ timeout: 5 });
    await sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
  return { url, sql: connections, drop };
}

function databaseUrl(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}

import { readdirSync, readFileSync } from "node:fs";
import pRetry from "p-retry";
import type { Log } from "../observability/log.ts";
import { DB_WAIT_REPORT_ATTEMPTS, DB_WAIT_RETRY_MS } from "../shared/limits.ts";
import { type Sql, withoutDeadlines } from "./client.ts";
import { explainDatabase, isLockTimeout, isOutage } from "./errors.ts";

/** So long a migration waits for a table, and everybody else behind it, before it lets them pass. */
const MIGRATION_LOCK_TIMEOUT_MS = 1_000;
/** So long it lets them pass. */
const MIGRATION_RETRY_MS = 1_000;

const DIRECTORY = `${import.meta.dir}/migrations`;
/** The advisory lock with which concurrent migrations wait for each other. */
const LOCK_KEY = [7305, 0] as const;

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
}

/** The database belongs to a newer version of the service. The message names the remedy. */
export class NewerSchemaError extends Error {}

/** The migrations of this version of the service, in order. */
export function shippedMigrations(): Migration[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(".sql"))
    .sort()
    .map((file) => ({
      version: Number.parseInt(file, 10),
      name: file.replace(/\.sql$/, ""),
      text: readFileSync(`${DIRECTORY}/${file}`, "utf8"),
    }));
}

/** The schema of the database; null if it has none. */
export async function schemaVersion(sql: Sql): Promise<number | null> {
  const [table] = await sql<{ exists: boolean }[]>`
    SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`;
  if (table?.exists !== true) return null;
  const [row] = await sql<{ version: number }[]>`
    SELECT coalesce(max(version), 0)::integer AS version FROM schema_migrations`;
  return row?.version ?? 0;
}

/**
 * Migrates the database to the schema of this version, in one transaction, and returns the names of
 * the applied migrations. A table that others are writing to is asked for again and again, because everybody
 * else waits behind a lock that is waited for. Throws when the database has a newer schema.
 */
export async function migrate(sql: Sql): Promise<string[]> {
  return await pRetry(() => migrateOnce(sql), {
    retries: Number.POSITIVE_INFINITY,
    factor: 1,
    minTimeout: MIGRATION_RETRY_MS,
    shouldRetry: ({ error }) => isLockTimeout(error),
  });
}

async function migrateOnce(sql: Sql): Promise<string[]> {
  const shipped = shippedMigrations();
  return await withoutDeadlines(sql).begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    await tx.unsafe(`SET LOCAL lock_timeout = ${MIGRATION_LOCK_TIMEOUT_MS}`);
    await tx`SELECT pg_advisory_xact_lock(${LOCK_KEY[0]}, ${LOCK_KEY[1]})`;
    await tx`CREATE TABLE IF NOT EXISTS schema_migrations (
      version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`;
    const rows = await tx<{ version: number }[]>`SELECT version FROM schema_migrations`;
    const applied = new Set(rows.map((row) => row.version));
    const newest = Math.max(0, ...applied);
    const last = shipped.at(-1)?.version ?? 0;
    if (newest > last) {
      throw new NewerSchemaError(
        `the database has schema ${newest}, but this version supports only ${last}: run a newer version of Tessera`,
      );
    }
    const pending = shipped.filter((migration) => !applied.has(migration.version));
    for (const migration of pending) {
      await tx.unsafe(migration.text);
      await tx`INSERT INTO schema_migrations (version, name) VALUES (${migration.version}, ${migration.name})`;
    }
    return pending.map((migration) => migration.name);
  });
}

/**
 * Migrates, and waits while the database does not answer, since the two may start in any order. An
 * abort of `signal` ends the wait with the last error. Every other error is thrown at once.
 */
export async function migrateWhenReachable(sql: Sql, log: Log, signal: AbortSignal): Promise<void> {
  const applied = await pRetry(() => migrate(sql), {
    retries: Number.POSITIVE_INFINITY,
    factor: 1,
    minTimeout: DB_WAIT_RETRY_MS,
    shouldRetry({ error, attemptNumber }) {
      if (!isOutage(error) || signal.aborted) return false;
      if (attemptNumber % DB_WAIT_REPORT_ATTEMPTS === 1)
        log.warn(`waiting: ${explainDatabase(error)}`);
      return true;
    },
  });
  if (applied.length > 0) log.info({ applied }, "migrated the database");
}

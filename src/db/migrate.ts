import { readdirSync, readFileSync } from "node:fs";
import pRetry from "p-retry";
import { DB_WAIT_REPORT_ATTEMPTS, DB_WAIT_RETRY_MS } from "../domain/limits.ts";
import type { Log } from "../ops/observability/log.ts";
import { type Queryable, type Sql, withoutDeadlines } from "./client.ts";
import { explainDatabase, isLockTimeout, isOutage } from "./errors.ts";
import { DatabaseRefusal, requireOnPath, requireSession } from "./session/session.ts";

/** Maximum wait of a migration for a table. All later transactions queue behind it for that time. */
const MIGRATION_LOCK_TIMEOUT_MS = 1_000;
/** Pause between two attempts, in which those transactions proceed. */
const MIGRATION_RETRY_MS = 1_000;
/** Interval at which a process looks for a migration by a newer version. */
const SCHEMA_CHECK_MS = 2_000;

const DIRECTORY = `${import.meta.dir}/migrations`;
/** The advisory lock with which concurrent migrations wait for each other. */
const LOCK_KEY = [7305, 0] as const;

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
}

/** Where operators read how to back up. */
const BACKUP_GUIDE = "docs/operations.md#back-up-and-restore";

/** The schema of the database, and the migrations that it lacks. */
interface SchemaState {
  /** The newest migration that was applied; null without a schema. */
  readonly version: number | null;
  readonly pending: readonly Migration[];
}

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

const newestOf = (migrations: readonly Migration[]): number => migrations.at(-1)?.version ?? 0;

async function readState(sql: Queryable, migrations: readonly Migration[]): Promise<SchemaState> {
  const [table] = await sql<{ exists: boolean }[]>`
    SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`;
  if (table?.exists !== true) return { version: null, pending: migrations };
  const rows = await sql<{ version: number; name: string }[]>`
    SELECT version, name FROM schema_migrations ORDER BY version`;
  const applied = new Map(rows.map(({ version, name }) => [version, name]));
  const other = migrations.find(({ version, name }) => (applied.get(version) ?? name) !== name);
  if (other !== undefined) {
    throw new DatabaseRefusal(
      `the database was made by a version before 1.0.0 (its schema begins with ${applied.get(other.version)})`,
      "export it with that version (./tessera export), and import the file into an empty database",
    );
  }
  const pending = migrations.filter(({ version }) => !applied.has(version));
  return { version: rows.at(-1)?.version ?? null, pending };
}

/** The schema of the database. Throws a DatabaseRefusal if this version cannot use it. */
export async function schemaState(
  sql: Queryable,
  migrations: readonly Migration[] = shippedMigrations(),
): Promise<SchemaState> {
  await requireSession(sql);
  const state = await readState(sql, migrations);
  if (state.version === null) await requireOnPath(sql);
  const newest = newestOf(migrations);
  if (state.version === null || state.version <= newest) return state;
  throw new DatabaseRefusal(
    `the database has schema ${state.version}, but this version supports only ${newest}`,
    "run a newer version of Tessera",
  );
}

/** Throws a DatabaseRefusal unless the database has exactly the schema of this version. */
export async function requireSchema(
  sql: Queryable,
  migrations: readonly Migration[] = shippedMigrations(),
): Promise<void> {
  const { version, pending } = await schemaState(sql, migrations);
  if (pending.length === 0) return;
  if (version === null) {
    throw new DatabaseRefusal(
      "the database has no tables yet",
      "start the service, or run: ./tessera migrate",
    );
  }
  throw new DatabaseRefusal(
    `the database has schema ${version}, and this version needs ${newestOf(migrations)}`,
    `back up (${BACKUP_GUIDE}), then start the service of this version or run: ./tessera migrate`,
  );
}

/** Called before the schema of a database is changed. */
type OnMigration = (announcement: string) => void;

/**
 * Migrates the database to the schema of this version, in one transaction, and returns the names of the applied
 * migrations. A lock on a table that others are writing to is requested again and again, because all later transactions
 * queue behind a waiting request. Throws a DatabaseRefusal if this version cannot use the database.
 */
export async function migrate(
  sql: Sql,
  announce: OnMigration = () => {},
  migrations: readonly Migration[] = shippedMigrations(),
): Promise<string[]> {
  const said = new Set<string>();
  const once = (announcement: string) => {
    if (!said.has(announcement)) announce(announcement);
    said.add(announcement);
  };
  return await pRetry(() => migrateOnce(sql, once, migrations), {
    retries: Number.POSITIVE_INFINITY,
    factor: 1,
    minTimeout: MIGRATION_RETRY_MS,
    shouldRetry: ({ error }) => isLockTimeout(error),
  });
}

async function migrateOnce(
  sql: Sql,
  announce: OnMigration,
  migrations: readonly Migration[],
): Promise<string[]> {
  return await withoutDeadlines(sql).begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    await tx.unsafe(`SET LOCAL lock_timeout = ${MIGRATION_LOCK_TIMEOUT_MS}`);
    await tx`SELECT pg_advisory_xact_lock(${LOCK_KEY[0]}, ${LOCK_KEY[1]})`;
    // Another process may have migrated it meanwhile.
    const { version, pending } = await schemaState(tx, migrations);
    await tx`CREATE TABLE IF NOT EXISTS schema_migrations (
      version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`;
    if (version !== null && pending.length > 0) {
      announce(
        `migrating the database from schema ${version} to ${newestOf(migrations)}, after which earlier versions do ` +
          `not start: a backup from before is worth having (${BACKUP_GUIDE})`,
      );
    }
    for (const migration of pending) {
      await tx.unsafe(migration.text);
      await tx`INSERT INTO schema_migrations (version, name) VALUES (${migration.version}, ${migration.name})`;
    }
    return pending.map((migration) => migration.name);
  });
}

/**
 * Migrates, and waits while the database does not answer, because the two may start in any order. An abort of `signal`
 * ends the wait with the last error. Other errors are thrown immediately.
 */
export async function migrateWhenReachable(sql: Sql, log: Log, signal: AbortSignal): Promise<void> {
  const applied = await pRetry(() => migrate(sql, (announcement) => log.warn(announcement)), {
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

interface SchemaWatch {
  /** Resolves when this version can no longer use the database. */
  readonly refused: Promise<DatabaseRefusal>;
  close(): void;
}

/** Watches whether a newer version has migrated the database. */
export function watchSchema(sql: Sql): SchemaWatch {
  const { promise: refused, resolve } = Promise.withResolvers<DatabaseRefusal>();
  let isChecking = false;
  const check = async () => {
    if (isChecking) return;
    isChecking = true;
    try {
      await schemaState(sql);
    } catch (error) {
      // A database that does not answer is asked again.
      if (error instanceof DatabaseRefusal) resolve(error);
    }
    isChecking = false;
  };
  const timer = setInterval(check, SCHEMA_CHECK_MS);
  return { refused, close: () => clearInterval(timer) };
}

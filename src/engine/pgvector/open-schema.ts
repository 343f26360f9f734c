import pRetry from "p-retry";
import { openDatabase, type Queryable, type Sql } from "../../db/client.ts";
import { isOutage } from "../../db/errors.ts";
import { DatabaseRefusal, requireSession } from "../../db/session/session.ts";
import {
  DB_WAIT_REPORT_ATTEMPTS,
  DB_WAIT_RETRY_MS,
  VECTOR_GRAPH_SCAN_TUPLES,
} from "../../domain/limits.ts";
import type { ChangeLog } from "../../index/changes/change-log.ts";
import { observeCalls } from "../../ops/observability/calls.ts";
import type { Log } from "../../ops/observability/log.ts";
import type { Metrics } from "../../ops/observability/metrics.ts";
import { VECTOR_GRAPH_EF } from "./search-statement.ts";
import { SCHEMA } from "./tables.ts";

/**
 * The layout of the schema. A higher one in the database belongs to a newer version of the service; a lower one is
 * dropped, and filled again from the platform's database.
 */
const LAYOUT = 4;
/** The advisory lock under which one process at a time creates the schema. */
const LOCK_KEY = [7305, 2] as const;
/** Connections of a node's searches to the engine's database. */
const VECTOR_DB_CONNECTIONS = 12;
/** The first version that continues a scan of the graph until enough rows pass the filter. */
const PGVECTOR_MIN = [0, 8] as const;

/**
 * Settings of sessions that search graphs. A scan continues until it has found enough chunks of the scope. JIT is off,
 * because compiling a statement takes longer than running it. A random page costs little more than the next one, on
 * SSDs and in memory; with the default the planner reads all rows of a small scope for each candidate of the graph.
 */
export const GRAPH_SETTINGS: Readonly<Record<string, string>> = {
  "hnsw.ef_search": String(VECTOR_GRAPH_EF),
  "hnsw.iterative_scan": "relaxed_order",
  "hnsw.max_scan_tuples": String(VECTOR_GRAPH_SCAN_TUPLES),
  "hnsw.scan_mem_multiplier": "8",
  jit: "off",
  random_page_cost: "1.1",
};

const STATEMENTS = `
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    layout integer NOT NULL,
    -- The database whose change log is followed: database_identity.id.
    origin uuid,
    -- Counts leaders. A replaced leader can no longer write.
    epoch bigint NOT NULL DEFAULT 0,
    -- All changes up to seq are searchable; (anchor_seq, anchor_at) is where a new leader continues.
    seq bigint NOT NULL DEFAULT 0,
    anchor_seq bigint NOT NULL DEFAULT 0,
    anchor_at text NOT NULL DEFAULT '',
    -- False until every project has been read once.
    complete boolean NOT NULL DEFAULT false
  );
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.copies (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    project_id uuid NOT NULL,
    -- Values of the column placement, each of them in a shard of its own.
    placements integer[] NOT NULL,
    -- Searches read the copy that is serving. One that is filling takes its place, and it is dropped later.
    state text NOT NULL CHECK (state IN ('serving', 'filling', 'retired')),
    -- When another copy took its place.
    retired_at timestamptz,
    -- The entry of the change log that asked for this copy; 0 without one.
    rebuild_seq bigint NOT NULL DEFAULT 0
  );
  CREATE UNIQUE INDEX IF NOT EXISTS copies_of_project ON ${SCHEMA}.copies (project_id, state)
    WHERE state <> 'retired';
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.wanted_placements (
    project_id uuid PRIMARY KEY,
    placements integer NOT NULL
  );
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.tables (
    copy_id uuid NOT NULL REFERENCES ${SCHEMA}.copies ON DELETE CASCADE,
    dimension integer NOT NULL,
    rows bigint NOT NULL DEFAULT 0,
    thresholds_id uuid,
    -- Little-endian float32.
    thresholds bytea,
    -- Every row has a code.
    coded boolean NOT NULL DEFAULT false,
    -- The graph over the codes is complete.
    graph boolean NOT NULL DEFAULT false,
    -- The candidates for searches with the limits 10 and 100, and the number of rows at their measurement.
    candidates integer[],
    calibrated_rows bigint,
    -- The recall of live searches, by the node that measured last.
    recall real,
    recall_samples integer,
    PRIMARY KEY (copy_id, dimension)
  );
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.scopes (
    id uuid NOT NULL,
    copy_id uuid NOT NULL REFERENCES ${SCHEMA}.copies ON DELETE CASCADE,
    -- Searches see the rows whose range holds this number. It grows when the scope is replaced.
    applied bigint NOT NULL,
    -- Chunks of the scope by dimension, in the order of DIMENSIONS.
    sizes bigint[] NOT NULL,
    PRIMARY KEY (copy_id, id)
  );
  INSERT INTO ${SCHEMA}.state (layout) VALUES (${LAYOUT}) ON CONFLICT DO NOTHING;`;

/** Error codes of PostgreSQL when the extension is not installed, or the role may not create it. */
const MISSING_EXTENSION = new Set(["0A000", "58P01"]);
const NOT_PERMITTED = "42501";

function explain(error: unknown): Error {
  const { code, message } = error as { code?: string; message?: string };
  if (code !== undefined && MISSING_EXTENSION.has(code)) {
    return new DatabaseRefusal(
      "the engine pgvector needs the extension vector on the server of VECTOR_DATABASE_URL",
      "install pgvector 0.8 or later (Debian: apt-get install postgresql-15-pgvector), or start without VECTOR_DATABASE_URL",
    );
  }
  if (code === NOT_PERMITTED) {
    return new DatabaseRefusal(
      `the role of VECTOR_DATABASE_URL lacks a right (${message})`,
      `as a superuser run CREATE EXTENSION vector in that database, and grant the role CREATE on it`,
    );
  }
  return error as Error;
}

function requireVersion(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > PGVECTOR_MIN[0] || (major === PGVECTOR_MIN[0] && minor >= PGVECTOR_MIN[1])) return;
  throw new DatabaseRefusal(
    `the engine pgvector needs pgvector ${PGVECTOR_MIN.join(".")} or later, and the database has ${version}`,
    "upgrade it and run ALTER EXTENSION vector UPDATE",
  );
}

/** The version of the extension vector; undefined if the database does not have it. */
export async function extensionVersion(sql: Queryable): Promise<string | undefined> {
  const [found] = await sql<{ version: string }[]>`
    SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'`;
  return found?.version;
}

/** True when the database distributes tables. */
export async function hasCitus(sql: Sql): Promise<boolean> {
  const rows = await sql`SELECT 1 FROM pg_extension WHERE extname = 'citus'`;
  return rows.length > 0;
}

/** Sessions on workers do not inherit settings of the session that asks, but those of the role. */
export async function setOnWorkers(sql: Sql): Promise<void> {
  for (const [name, value] of Object.entries(GRAPH_SETTINGS)) {
    await sql.unsafe(`ALTER ROLE CURRENT_USER SET ${name} = '${value}'`);
  }
}

/** Two installations must not write to the same tables. */
async function claim(sql: Sql, origin: string): Promise<void> {
  await sql`UPDATE ${sql(SCHEMA)}.state SET origin = ${origin} WHERE origin IS NULL`;
  const [state] = await sql<{ origin: string }[]>`SELECT origin FROM ${sql(SCHEMA)}.state`;
  if (state?.origin === origin) return;
  throw new DatabaseRefusal(
    `the schema ${SCHEMA} belongs to another Tessera database`,
    "name another database in VECTOR_DATABASE_URL, or drop the schema to fill it again",
  );
}

/** The layout of the existing schema; 0 without one. */
async function layoutOf(sql: Queryable): Promise<number> {
  const [found] = await sql<{ table: string | null }[]>`
    SELECT to_regclass(${`${SCHEMA}.state`})::text AS table`;
  if (found?.table == null) return 0;
  const [state] = await sql<{ layout: number }[]>`SELECT layout FROM ${sql(SCHEMA)}.state`;
  return state?.layout ?? 0;
}

async function create(sql: Sql, origin: string): Promise<void> {
  await requireSession(sql);
  await sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(${LOCK_KEY[0]}, ${LOCK_KEY[1]})`;
    // A role without the right to create extensions can use one that is there.
    if ((await extensionVersion(tx)) === undefined) await tx`CREATE EXTENSION vector`;
    if ((await layoutOf(tx)) < LAYOUT) await tx.unsafe(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
    await tx.unsafe(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
    await tx.unsafe(STATEMENTS);
  });
  requireVersion((await extensionVersion(sql)) ?? "");
  const layout = await layoutOf(sql);
  if (layout > LAYOUT) {
    throw new DatabaseRefusal(
      `the vector database has layout ${layout}, but this version supports only ${LAYOUT}`,
      "run a newer version of Tessera",
    );
  }
  await claim(sql, origin);
  if (await hasCitus(sql)) await setOnWorkers(sql);
}

/**
 * Creates the engine's schema unless it is there, and waits while the database does not answer. Throws
 * DatabaseRefusal. An abort of `signal` ends the wait.
 * @param origin the id of the platform's database
 */
async function openSchemaWhenReachable(
  sql: Sql,
  origin: string,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  try {
    await pRetry(() => create(sql, origin), {
      retries: Number.POSITIVE_INFINITY,
      factor: 1,
      minTimeout: DB_WAIT_RETRY_MS,
      shouldRetry({ error, attemptNumber }) {
        if (!isOutage(error) || signal.aborted) return false;
        if (attemptNumber % DB_WAIT_REPORT_ATTEMPTS === 1) {
          log.warn("waiting: the vector database does not answer: check VECTOR_DATABASE_URL");
        }
        return true;
      },
    });
  } catch (error) {
    throw explain(error);
  }
}

/** Opens the database of the vectors and creates the engine's schema in it. */
export async function openVectorDatabase(
  url: string,
  changes: ChangeLog,
  log: Log,
  metrics: Metrics,
  signal: AbortSignal,
): Promise<Sql> {
  const sql = openDatabase(url, {
    connections: VECTOR_DB_CONNECTIONS,
    applicationName: "tessera-search",
    settings: GRAPH_SETTINGS,
    observer: observeCalls(metrics.calls, "postgresql"),
  });
  try {
    await openSchemaWhenReachable(sql, await changes.databaseId(), log, signal);
    return sql;
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
}

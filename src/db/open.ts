import { createHash } from "node:crypto";
import pTimeout from "p-timeout";
import { DB_CLOSE_TIMEOUT_SECONDS } from "../domain/limits.ts";
import type { Config } from "../ops/config/schema.ts";
import { type DatabaseOptions, openDatabase, type Queryable, type Sql } from "./client.ts";
import { openEmbeddedDatabase } from "./embedded.ts";

const READINESS_TIMEOUT_MS = 1_000;
const STANDBY = "the database is a standby, which accepts no changes";
/** 96 bits: enough that no two databases share them. */
const IDENTITY_CHARS = 16;

export interface OpenedDatabase {
  readonly sql: Sql;
  readonly url: string;
  /** A sentence about the fault, or null when the database answers. Never throws. */
  check(): Promise<string | null>;
  close(): Promise<void>;
}

/** Resolves to the finding, or to `late` when the time is over. */
function found(finding: Promise<string | null>, late: string | null): Promise<string | null> {
  return pTimeout(finding, { milliseconds: READINESS_TIMEOUT_MS, fallback: () => late });
}

function check(sql: Sql): Promise<string | null> {
  const answer = sql`SELECT 1`.then(() => null).catch(() => "does not answer");
  return found(answer, "does not answer in time");
}

/** A sentence about why the database accepts no changes; null when it accepts them, and when it does not answer. */
export function checkWrites(sql: Sql): Promise<string | null> {
  const answer = serverOf(sql).then(({ isStandby }) => (isStandby ? STANDBY : null));
  return found(
    answer.catch(() => null),
    null,
  );
}

/** Names the configured database to people, without credentials. */
export function databaseName({ databaseUrl, dataDir }: Config): string {
  if (databaseUrl === undefined) return `the database in ${dataDir}`;
  return `the database ${databaseUrl.replace(/^\w+:\/\/(?:[^/]*@)?/, "").replace(/\?.*$/, "")}`;
}

/** Identifies the database. A copy of its files has the same id, every other database has another. */
export async function databaseId(sql: Queryable): Promise<string> {
  const [row] = await sql<{ id: string }[]>`SELECT id FROM database_identity`;
  if (row === undefined) throw new Error("the table database_identity is empty");
  return row.id;
}

/**
 * Identifies the database where several may share a server for coordination. Unlike `databaseId`, a copy that was
 * restored from a dump has another one; a standby has the same, so that it can take over.
 */
export async function sharedIdentity(sql: Queryable): Promise<string> {
  // A managed server may not let its users call the function.
  const [may] = await sql<{ call: boolean }[]>`
    SELECT has_function_privilege('pg_control_system()', 'EXECUTE') AS call`;
  const server = may?.call ? sql`(SELECT system_identifier FROM pg_control_system())` : sql`NULL`;
  const [row] = await sql<{ parts: string }[]>`
    SELECT concat_ws(' ', o.id, ${server}, d.oid) AS parts
    FROM database_identity o, pg_database d WHERE d.datname = current_database()`;
  return createHash("sha256")
    .update(row?.parts ?? "")
    .digest("base64url")
    .slice(0, IDENTITY_CHARS);
}

interface Server {
  /** The major number of its version. */
  readonly major: number;
  /** Its version as the server writes it. */
  readonly name: string;
  /** It copies another server, and accepts no changes. */
  readonly isStandby: boolean;
}

/** The server that answers. */
export async function serverOf(sql: Queryable): Promise<Server> {
  const [row] = await sql<{ number: number; name: string; isStandby: boolean }[]>`
    SELECT current_setting('server_version_num')::integer AS number,
      current_setting('server_version') AS name, pg_is_in_recovery() AS "isStandby"`;
  const { number = 0, name = "", isStandby = false } = row ?? {};
  return { major: Math.floor(number / 10_000), name, isStandby };
}

/** Opens the database in DATABASE_URL, or else the embedded one, which it starts or joins. */
export async function openConfiguredDatabase(
  config: Config,
  log: (line: string) => void,
  options: DatabaseOptions = {},
): Promise<OpenedDatabase> {
  const { databaseUrl, dataDir } = config;
  const server =
    databaseUrl === undefined ? await openEmbeddedDatabase({ dataDir, log }) : undefined;
  const url = server?.url ?? (databaseUrl as string);
  const sql = openDatabase(url, options);
  return {
    sql,
    url,
    check: () => check(sql),
    async close() {
      await sql.end({ timeout: DB_CLOSE_TIMEOUT_SECONDS });
      await server?.close();
    },
  };
}

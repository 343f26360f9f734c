import type postgres from "postgres";

/**
 * Settings that change the meaning of statements and results. A server, a database or a role may have other defaults,
 * so every session sets them at its start. All except the time zone are the defaults of PostgreSQL.
 */
const SESSION_SETTINGS = {
  client_encoding: "UTF8",
  bytea_output: "hex",
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  TimeZone: "UTC",
  array_nulls: "on",
  extra_float_digits: "1",
  standard_conforming_strings: "on",
  transform_null_equals: "off",
  default_transaction_isolation: "read committed",
  default_transaction_read_only: "off",
  row_security: "on",
} as const;

/** Sessions and waits for locks are unlimited here. Statements have timeouts of their own (client.ts). */
const TIMEOUT_SETTINGS = { lock_timeout: "0", idle_session_timeout: "0" } as const;

/** The search path unless DATABASE_URL names one. It is the default of PostgreSQL. */
const SEARCH_PATH = '"$user", public';

/** Settings that the service relies on and that a session cannot set. */
const READ_ONLY_SETTINGS = { server_encoding: "UTF8", session_replication_role: "origin" } as const;

const RESERVED_PARAMETERS = new Set(
  Object.keys({ ...SESSION_SETTINGS, ...TIMEOUT_SETTINGS }).map((name) => name.toLowerCase()),
);

interface Session {
  /** The address without parameters that the session sets itself. */
  readonly url: string;
  /** The path of the Unix socket that the address names; the driver does not read it from an address. */
  readonly path?: string;
  /** The parameters with which the session starts. */
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * The start of a session with the database at this address. The address may name a `search_path`, itself or in
 * `options`. It cannot change RESERVED_PARAMETERS.
 */
export function sessionOf(url: string): Session {
  const [address = "", ...rest] = url.split("?");
  const query = new URLSearchParams(rest.join("?"));
  const own = [...query.keys()].filter((name) => RESERVED_PARAMETERS.has(name.toLowerCase()));
  for (const name of own) query.delete(name);
  const hasPath = [...query].some(([name, value]) => /search_path/i.test(`${name} ${value}`));
  return {
    url: own.length === 0 ? url : `${address}?${query}`,
    ...socketOf(address),
    parameters: {
      ...SESSION_SETTINGS,
      ...TIMEOUT_SETTINGS,
      ...(hasPath ? {} : { search_path: SEARCH_PATH }),
    },
  };
}

/** As in libpq, a host that begins with an encoded slash is the folder of a socket: `postgres://user@%2Frun/name`. */
function socketOf(address: string): { path?: string } {
  const host = /^\w+:\/\/(?:[^/]*@)?(%2F[^/:]*)(?::(\d+))?/i.exec(address);
  if (host === null) return {};
  const [, folder = "", port = "5432"] = host;
  return { path: `${decodeURIComponent(folder)}/.s.PGSQL.${port}` };
}

type Queryable = postgres.ISql<Record<string, never>>;

/** Throws a DatabaseRefusal unless the session has the settings that the service relies on. */
export async function requireSession(sql: Queryable): Promise<void> {
  const expected: Readonly<Record<string, string>> = { ...READ_ONLY_SETTINGS, ...SESSION_SETTINGS };
  const rows = await sql<{ name: string; value: string }[]>`
    SELECT name, current_setting(name) AS value FROM unnest(${Object.keys(expected)}::text[]) AS name`;
  const actual = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  const encoding = actual["server_encoding"];
  if (encoding !== READ_ONLY_SETTINGS.server_encoding) {
    throw new DatabaseRefusal(
      `the database stores text as ${encoding}, and Tessera needs UTF8`,
      "create a database with `createdb --template=template0 --encoding=UTF8`, let the URL name it, and move " +
        "the contents of this one with pg_dump and pg_restore",
    );
  }
  const wrong = Object.keys(expected).filter((name) => actual[name] !== expected[name]);
  if (wrong.length === 0) return;
  const found = wrong.map((name) => `${name} = ${actual[name]} instead of ${expected[name]}`);
  throw new DatabaseRefusal(
    `sessions of the database have ${found.join(", ")}`,
    "something between Tessera and PostgreSQL, such as a pooler, drops the settings of sessions: connect to " +
      "PostgreSQL itself, or ALTER ROLE ... SET these (docs/operations.md#connections)",
  );
}

/** Throws a DatabaseRefusal if the tables exist, but in a schema outside the search path. */
export async function requireOnPath(sql: Queryable): Promise<void> {
  const [row] = await sql<{ path: string; schema: string | null }[]>`
    SELECT current_setting('search_path') AS path, (
      SELECT min(relnamespace::regnamespace::text) FROM pg_class
      WHERE relname IN ('schema_migrations', 'change_log') AND relkind = 'r'
      GROUP BY relnamespace HAVING count(*) = 2 LIMIT 1) AS schema`;
  // An address with its own search path may mean other tables.
  if (row?.schema == null || row.path !== SEARCH_PATH) return;
  throw new DatabaseRefusal(
    `the tables of Tessera are in the schema ${row.schema}, where sessions do not look`,
    `add search_path=${encodeURIComponent(row.schema)} to DATABASE_URL, as in postgres://host/database?search_path=...`,
  );
}

/** The database cannot be used as it is. The message is one line and ends with the remedy. */
export class DatabaseRefusal extends Error {
  override readonly name = "DatabaseRefusal";

  constructor(
    readonly found: string,
    readonly remedy: string,
  ) {
    super(`${found}: ${remedy}`);
  }
}

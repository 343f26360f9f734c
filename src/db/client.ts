import postgres from "postgres";
import { parseJson } from "../domain/json/parse.ts";
import { DB_POOL_CONNECTIONS, DB_STATEMENT_TIMEOUT_MS, DB_SUSPECT_MS } from "../domain/limits.ts";
import type { CallObserver } from "../ops/observability/calls.ts";
import { aroundQuery, type DriverQuery, withEachQuery } from "./outage/guarded-query.ts";
import {
  BACKGROUND_DEADLINES,
  guardPool,
  NO_DEADLINES,
  REQUEST_DEADLINES,
} from "./outage/guarded-sql.ts";
import { OutageGuard } from "./outage/outage-guard.ts";
import { ARRAY_TYPES } from "./session/array-types.ts";
import { sessionOf } from "./session/session.ts";

export { withoutDeadlines, withWriteDeadline } from "./outage/guarded-sql.ts";

const DB_CONNECT_TIMEOUT_SECONDS = 5;
const DB_IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000;
const DB_RECONNECT_MS = 200;
/** Commands have time: they are probed later, and bear an outage of this length. */
const DB_PATIENT_SUSPECT_MS = 10_000;
const DB_PATIENCE_MS = 60_000;
/** Spans name statements up to this length. */
const TRACE_STATEMENT_MAX_CHARS = 500;
/** The statements with metrics of their own. The service sends no others while it answers requests. */
const OPERATIONS = new Set(["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"]);
const FIRST_WORD = /^\s*([A-Za-z]+)/;

export type Sql = postgres.Sql<Record<string, never>>;
export type Transaction = postgres.TransactionSql<Record<string, never>>;
/** Where a query runs: the pool, or one of its transactions. */
export type Queryable = Sql | Transaction;

/** The types json and jsonb of PostgreSQL, by their ids. Numbers are read as they are written. */
const JSON_TYPES = { to: 114, from: [114, 3802], serialize: JSON.stringify, parse: parseJson };

/** The deadlines of callers. */
const PATIENCE = {
  /** A client waits for an answer. */
  request: { deadlines: REQUEST_DEADLINES, suspectMs: DB_SUSPECT_MS, patienceMs: 0 },
  /** Work inside the service, which is retried. */
  background: { deadlines: BACKGROUND_DEADLINES, suspectMs: DB_SUSPECT_MS, patienceMs: 0 },
  /** A command, for which a delay is better than an interruption. */
  command: {
    deadlines: NO_DEADLINES,
    suspectMs: DB_PATIENT_SUSPECT_MS,
    patienceMs: DB_PATIENCE_MS,
  },
} as const;

export interface DatabaseOptions {
  readonly connections?: number;
  readonly applicationName?: string;
  /** 0 for no timeout, as maintenance needs it. */
  readonly statementTimeoutMs?: number;
  /** `request` by default, `command` for a pool without a statement timeout. */
  readonly patience?: keyof typeof PATIENCE;
  /** Called when the database stops answering and when it answers again. */
  readonly onOutage?: (isDown: boolean) => void;
  /** Settings of the server for all sessions. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Measures all statements and transactions. */
  readonly observer?: CallObserver;
}

/**
 * Opens a connection pool. It connects at the first query, which fails without a server. Close it with `sql.end()`.
 *
 * No caller waits longer than the deadlines of DatabaseOptions.patience. During an outage statements are rejected
 * immediately, until a probe is answered. The driver is patched (patches/). In the released version, a connection that
 * breaks inside a transaction ends the whole process, or the rest of the transaction runs on the next connection,
 * outside of any transaction. A COPY that PostgreSQL refuses is never answered.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Sql {
  const { deadlines, suspectMs, patienceMs } =
    PATIENCE[options.patience ?? (options.statementTimeoutMs === 0 ? "command" : "request")];
  const onChange = options.onOutage ?? (() => {});
  const guard = new OutageGuard({ url, suspectMs, patienceMs, onChange });
  const session = sessionOf(url);
  const sql = postgres(session.url, {
    ...(session.path === undefined ? {} : { path: session.path }),
    max: options.connections ?? DB_POOL_CONNECTIONS,
    connect_timeout: DB_CONNECT_TIMEOUT_SECONDS,
    // A constant delay, because a growing one would keep the service down after the server is back.
    backoff: () => DB_RECONNECT_MS / 1_000,
    types: { json: JSON_TYPES, ...ARRAY_TYPES },
    fetch_types: false,
    onnotice: () => {},
    // During an outage no connection is attempted; afterwards all are, without a delay.
    async socket(address: Parameters<OutageGuard["sockets"]["connect"]>[0]) {
      await guard.reachable();
      return guard.sockets.connect(address);
    },
    connection: {
      ...session.parameters,
      application_name: options.applicationName ?? "tessera",
      // Text, because the driver leaves out a zero, and a database may have a limit of its own.
      statement_timeout: String(options.statementTimeoutMs ?? DB_STATEMENT_TIMEOUT_MS),
      idle_in_transaction_session_timeout: DB_IDLE_IN_TRANSACTION_TIMEOUT_MS,
      ...options.settings,
    },
  } as unknown as postgres.Options<Record<string, never>>);
  const { observer } = options;
  const decorate = (pool: Sql) => (observer === undefined ? pool : observePool(pool, observer));
  return guardPool(sql as unknown as Sql, guard, deadlines, decorate);
}

type Base = postgres.Sql<Record<string, never>>;

function operationOf({ strings }: DriverQuery): string {
  const word = FIRST_WORD.exec(strings[0] ?? "")?.[1]?.toUpperCase() ?? "";
  return OPERATIONS.has(word) ? word : "OTHER";
}

/** The statement with placeholders for its values. */
function textOf({ strings }: DriverQuery): string {
  return strings.join("?").replace(/\s+/g, " ").trim().slice(0, TRACE_STATEMENT_MAX_CHARS);
}

/** The same pool, transaction or connection with all its statements observed. */
function observeStatements<T extends Base>(base: T, observer: CallObserver): T {
  return withEachQuery(base, (query) =>
    aroundQuery(query, () => observer.start(operationOf(query), () => textOf(query))),
  );
}

/**
 * Observes all statements of a pool and its transactions. A transaction counts as an operation of its
 * own, from waiting for a connection to the commit.
 */
function observePool(base: Base, observer: CallObserver): Base {
  const begin = (...args: unknown[]) => {
    const work = args.pop() as (tx: unknown) => unknown;
    const inside = (tx: Base) => work(observeStatements(tx, observer));
    const run = base.begin as unknown as (...all: unknown[]) => Promise<unknown>;
    return observer.around("TRANSACTION", () => run(...args, inside));
  };
  return Object.assign(observeStatements(base, observer), { begin }) as unknown as Base;
}

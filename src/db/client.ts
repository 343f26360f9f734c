import postgres from "postgres";
import {
  DB_CONNECT_TIMEOUT_SECONDS,
  DB_IDLE_IN_TRANSACTION_TIMEOUT_MS,
  DB_POOL_CONNECTIONS,
  DB_RECONNECT_MS,
  DB_STATEMENT_TIMEOUT_MS,
} from "../shared/limits.ts";

export type Sql = postgres.Sql<Record<string, never>>;
export type Transaction = postgres.TransactionSql<Record<string, never>>;
/** Where a query runs: the pool, or one of its transactions. */
export type Queryable = Sql | Transaction;

export interface DatabaseOptions {
  readonly connections?: number;
  readonly applicationName?: string;
  /** 0 for no timeout, as maintenance needs it. */
  readonly statementTimeoutMs?: number;
}

/**
 * Opens a connection pool. It connects at the first query, which fails when there is no server.
 * Close it with `sql.end()`. The driver is patched (patches/): in the released version, a connection
 * that breaks inside a transaction ends the whole process, or the rest of the transaction runs on
 * the next connection, outside of any transaction.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Sql {
  return postgres(url, {
    max: options.connections ?? DB_POOL_CONNECTIONS,
    connect_timeout: DB_CONNECT_TIMEOUT_SECONDS,
    // A constant delay, because a growing one would keep the service down after the server is back.
    backoff: () => DB_RECONNECT_MS / 1_000,
    onnotice: () => {},
    connection: {
      application_name: options.applicationName ?? "tessera",
      statement_timeout: options.statementTimeoutMs ?? DB_STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: DB_IDLE_IN_TRANSACTION_TIMEOUT_MS,
    },
  }) as Sql;
}

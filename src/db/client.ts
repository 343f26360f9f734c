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
/** What a query runs on: the pool, or a transaction of it. */
export type Queryable = Sql | Transaction;

export interface DatabaseOptions {
  readonly connections?: number;
  readonly applicationName?: string;
  /** 0 lifts the timeout, for maintenance such as migrations. */
  readonly statementTimeoutMs?: number;
}

/**
 * Opens a connection pool. The driver is patched (patches/): as released, a connection that breaks
 * inside a transaction ends the whole process, or lets the rest of the transaction run on the next
 * connection, outside of it. Connections are made on first use, so an absent server shows at the
 * first query and not here. Close it with `sql.end()`.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Sql {
  return postgres(url, {
    max: options.connections ?? DB_POOL_CONNECTIONS,
    connect_timeout: DB_CONNECT_TIMEOUT_SECONDS,
    // A growing wait between attempts would keep the service down after the server is back.
    backoff: () => DB_RECONNECT_MS / 1_000,
    onnotice: () => {},
    connection: {
      application_name: options.applicationName ?? "tessera",
      statement_timeout: options.statementTimeoutMs ?? DB_STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: DB_IDLE_IN_TRANSACTION_TIMEOUT_MS,
    },
  }) as Sql;
}

import pRetry from "p-retry";
import type { Sql, Transaction } from "./client.ts";
import { isRetryable } from "./errors.ts";

const DB_TRANSACTION_ATTEMPTS = 4;
/** The pause before the first repetition of a transaction; it doubles each time, plus jitter. */
const DB_RETRY_BASE_MS = 20;

/**
 * Runs `attempt`, which is one transaction, and repeats it while PostgreSQL rolls it back for a
 * deadlock or a serialization conflict, at most DB_TRANSACTION_ATTEMPTS times in all.
 */
export function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  return pRetry(attempt, {
    retries: DB_TRANSACTION_ATTEMPTS - 1,
    minTimeout: DB_RETRY_BASE_MS,
    randomize: true,
    shouldRetry: ({ error }) => isRetryable(error),
  });
}

/**
 * Runs `work` in one transaction, and again after a deadlock or a serialization conflict. `work`
 * must therefore have no effects but those of its queries.
 */
export function transaction<T>(sql: Sql, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return retryConflicts(async () => (await sql.begin((tx) => work(tx as Transaction))) as T);
}

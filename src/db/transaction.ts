import { DB_RETRY_BASE_MS, DB_TRANSACTION_ATTEMPTS } from "../shared/limits.ts";
import type { Sql, Transaction } from "./client.ts";
import { isRetryable } from "./errors.ts";

/**
 * Runs `work` in one transaction and runs it again when PostgreSQL refuses it for a deadlock or a
 * serialisation conflict. `work` must therefore have no effects but those of its queries.
 */
export async function transaction<T>(sql: Sql, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await sql.begin((tx) => work(tx as Transaction))) as T;
    } catch (error) {
      if (attempt >= DB_TRANSACTION_ATTEMPTS || !isRetryable(error)) throw error;
      await Bun.sleep(DB_RETRY_BASE_MS * attempt * (1 + Math.random()));
    }
  }
}

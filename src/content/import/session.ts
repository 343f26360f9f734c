import type { ReservedSql } from "postgres";
import type { Sql } from "../../db/client.ts";
import { Charges, type Charging } from "../../db/quotas.ts";

/** Maximum waits of an import for a lock, a statement, and its input in a transaction; 0 without a limit. */
export interface TimeBounds {
  readonly lockMs: number;
  readonly statementMs: number;
  readonly idleInTransactionMs: number;
}

/** A command waits for the holder of a row, and for the program that it reads from. */
const UNBOUNDED: TimeBounds = { lockMs: 0, statementMs: 0, idleInTransactionMs: 0 };

/**
 * One reserved connection for a whole import, because the staging tables belong to a PostgreSQL
 * session. Transactions may be nested: an inner one is a savepoint.
 */
export class ImportSession implements Charging {
  #depth = 0;
  /** The charges of the running transaction. The outermost one settles them before its commit. */
  charges = new Charges();

  private constructor(readonly sql: ReservedSql<Record<string, never>>) {}

  /** Reserves a connection of the pool until `close`. */
  static async open(pool: Sql, bounds: TimeBounds = UNBOUNDED): Promise<ImportSession> {
    const sql = await pool.reserve();
    // An import does not wait for the disk at every commit: after a crash an unfinished import is run
    // again. Its last commits are durable.
    await sql.unsafe(`SET synchronous_commit = off;
      SET lock_timeout = ${bounds.lockMs}; SET statement_timeout = ${bounds.statementMs};
      SET idle_in_transaction_session_timeout = ${bounds.idleInTransactionMs}`);
    return new ImportSession(sql);
  }

  async close(): Promise<void> {
    await this.sql.unsafe("RESET ALL").catch(() => {});
    this.sql.release();
  }

  /** Waits until all earlier commits are durable, and makes further ones wait for the disk. */
  async commitDurably(): Promise<void> {
    await this.sql.unsafe("SET synchronous_commit = on");
    // The commit of a transaction without writes would not wait.
    await this.sql`SELECT pg_logical_emit_message(true, 'tessera', 'import')`;
  }

  /** Runs `work` in a transaction, which is rolled back if it throws. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    const savepoint = `import_${this.#depth}`;
    const nested = this.#depth > 0;
    const earlier = this.charges;
    await this.sql.unsafe(nested ? `SAVEPOINT ${savepoint}` : "BEGIN");
    this.charges = new Charges();
    this.#depth++;
    try {
      const result = await work();
      if (nested) earlier.addAll(this.charges);
      else await this.charges.settle(this.sql);
      await this.sql.unsafe(nested ? `RELEASE SAVEPOINT ${savepoint}` : "COMMIT");
      return result;
    } catch (error) {
      // A lost connection rolls back by itself. Report the first error, not the failed rollback.
      await this.sql
        .unsafe(nested ? `ROLLBACK TO ${savepoint}; RELEASE SAVEPOINT ${savepoint}` : "ROLLBACK")
        .catch(() => {});
      throw error;
    } finally {
      this.charges = earlier;
      this.#depth--;
    }
  }
}

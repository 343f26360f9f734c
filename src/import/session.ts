import type { ReservedSql } from "postgres";
import type { Sql } from "../db/client.ts";

/**
 * One connection for a whole import, because what is staged lives in the session. Transactions
 * nest: inside another one, `atomically` makes a savepoint.
 */
export class Session {
  #depth = 0;

  private constructor(readonly sql: ReservedSql<Record<string, never>>) {}

  /** Takes a connection out of the pool; `close` gives it back. */
  static async open(pool: Sql): Promise<Session> {
    const sql = await pool.reserve();
    // An import may wait for its input in the middle of a transaction. Losing the last batches in
    // a crash of the machine costs nothing, since an import that did not end is run again; the
    // transactions that end it wait for the disk.
    await sql.unsafe(`SET idle_in_transaction_session_timeout = 0;
      SET statement_timeout = 0; SET synchronous_commit = off`);
    return new Session(sql);
  }

  async close(): Promise<void> {
    await this.sql.unsafe("RESET ALL").catch(() => {});
    this.sql.release();
  }

  /** From here on, commits wait until they are on the disk, and so does all before them. */
  async commitDurably(): Promise<void> {
    await this.sql.unsafe("SET synchronous_commit = on");
  }

  /** Runs `work` so that all of it is kept, or nothing when it throws. */
  async atomically<T>(work: () => Promise<T>): Promise<T> {
    const savepoint = `import_${this.#depth}`;
    const nested = this.#depth > 0;
    await this.sql.unsafe(nested ? `SAVEPOINT ${savepoint}` : "BEGIN");
    this.#depth++;
    try {
      const result = await work();
      await this.sql.unsafe(nested ? `RELEASE SAVEPOINT ${savepoint}` : "COMMIT");
      return result;
    } catch (error) {
      // A lost connection rolls back by itself; the first error is the one to tell.
      await this.sql
        .unsafe(nested ? `ROLLBACK TO ${savepoint}; RELEASE SAVEPOINT ${savepoint}` : "ROLLBACK")
        .catch(() => {});
      throw error;
    } finally {
      this.#depth--;
    }
  }
}

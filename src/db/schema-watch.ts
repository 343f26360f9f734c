import type { Sql } from "./client.ts";
import { schemaState } from "./migrate.ts";
import { DatabaseRefusal } from "./session/refusal.ts";

/** Interval at which a process looks for a migration by a newer version. */
const SCHEMA_CHECK_MS = 2_000;

interface SchemaWatch {
  /** Resolves when this version can no longer use the database. */
  readonly refused: Promise<DatabaseRefusal>;
  close(): void;
}

/** Watches whether a newer version has migrated the database. */
export function watchSchema(sql: Sql): SchemaWatch {
  const { promise: refused, resolve } = Promise.withResolvers<DatabaseRefusal>();
  let isChecking = false;
  const check = async () => {
    if (isChecking) return;
    isChecking = true;
    try {
      await schemaState(sql);
    } catch (error) {
      // A database that does not answer is asked again.
      if (error instanceof DatabaseRefusal) resolve(error);
    }
    isChecking = false;
  };
  const timer = setInterval(check, SCHEMA_CHECK_MS);
  return { refused, close: () => clearInterval(timer) };
}

import type { Sql } from "./client.ts";
import { schemaState } from "./migrate.ts";
import { DatabaseRefusal } from "./session/refusal.ts";

/** So soon a process notices that a newer version has migrated its database. */
const SCHEMA_CHECK_MS = 2_000;

interface SchemaWatch {
  /** Resolves when this version cannot use the database any more. */
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

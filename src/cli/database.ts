import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { Sql } from "../db/client.ts";
import { migrate } from "../db/migrate.ts";
import { openConfiguredDatabase } from "../db/open.ts";

/** Commands take their time where requests must not. */
const NO_TIMEOUT = 0;
const CONNECTIONS = 4;

/**
 * Runs a command's work on the configured database, brought to the current schema, whether a
 * server runs or not, and closes it again.
 */
export async function withDatabase<T>(
  work: (sql: Sql, config: Config, applied: readonly string[]) => Promise<T>,
): Promise<T> {
  const config = loadConfig();
  const database = await openConfiguredDatabase(
    config,
    (line) => process.stderr.write(`tessera: ${line}\n`),
    { connections: CONNECTIONS, applicationName: "tessera-cli", statementTimeoutMs: NO_TIMEOUT },
  );
  try {
    const applied = await migrate(database.sql);
    return await work(database.sql, config, applied);
  } finally {
    await database.close();
  }
}

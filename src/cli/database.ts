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
  const opening = openConfiguredDatabase(
    config,
    (line) => process.stderr.write(`tessera: ${line}\n`),
    { connections: CONNECTIONS, applicationName: "tessera-cli", statementTimeoutMs: NO_TIMEOUT },
  );
  const closed = closeOnSignals(async () => (await opening).close());
  const database = await opening;
  try {
    const applied = await migrate(database.sql);
    return await work(database.sql, config, applied);
  } finally {
    closed();
    await database.close();
  }
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;
/** Shows the cursor and wraps lines again, which a progress bar may have switched off. */
const RESTORE_TERMINAL = "\x1b[?25h\x1b[?7h\n";

/**
 * A command that is interrupted closes the database before it goes, or an embedded one that it
 * started would run on. Whatever was not committed rolls back. Returns a function that ends this.
 */
function closeOnSignals(close: () => Promise<void>): () => void {
  const ends = Object.entries(SIGNALS).map(([signal, status]) => {
    const end = async () => {
      if (process.stderr.isTTY) process.stderr.write(RESTORE_TERMINAL);
      await close().catch(() => {});
      process.exit(status);
    };
    process.once(signal, end);
    return () => process.removeListener(signal, end);
  });
  return () => {
    for (const end of ends) end();
  };
}

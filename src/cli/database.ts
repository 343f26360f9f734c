import type { Sql } from "../db/client.ts";
import { migrate } from "../db/migrate.ts";
import { openConfiguredDatabase } from "../db/open.ts";
import { configOf, type Io } from "./io.ts";
import { notice } from "./output.ts";

/** Statements of commands may take longer than those of requests. */
const NO_TIMEOUT = 0;
const CONNECTIONS = 4;

/**
 * Opens the configured database, migrates it, runs `work` and closes it. A server may be running on
 * the same database. `applied` lists the migrations that were applied.
 */
export async function withDatabase<T>(
  io: Io,
  work: (sql: Sql, applied: readonly string[]) => Promise<T>,
): Promise<T> {
  const opening = openConfiguredDatabase(configOf(io), (line) => notice(io, line), {
    connections: CONNECTIONS,
    applicationName: "tessera-cli",
    statementTimeoutMs: NO_TIMEOUT,
  });
  const removeHandlers = closeOnSignals(io, async () => (await opening).close());
  const database = await opening;
  try {
    const applied = await migrate(database.sql);
    return await work(database.sql, applied);
  } finally {
    removeHandlers();
    await database.close();
  }
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;
/** Shows the cursor and enables line wrapping, which a progress bar may have disabled. */
const RESTORE_TERMINAL = "\x1b[?25h\x1b[?7h\n";

/**
 * Closes the database before an interrupted command exits. An embedded PostgreSQL that it started
 * would keep running otherwise. Open transactions are rolled back. Returns a function that removes
 * the signal handlers.
 */
function closeOnSignals(io: Io, close: () => Promise<void>): () => void {
  const removers = Object.entries(SIGNALS).map(([signal, status]) => {
    const exit = async () => {
      if (io.stderr.isTTY) io.stderr.write(RESTORE_TERMINAL);
      await close().catch(() => {});
      process.exit(status);
    };
    process.once(signal, exit);
    return () => process.removeListener(signal, exit);
  });
  return () => {
    for (const remove of removers) remove();
  };
}

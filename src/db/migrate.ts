import { readdirSync, readFileSync } from "node:fs";
import type { Sql } from "./client.ts";

const DIRECTORY = `${import.meta.dir}/migrations`;
/** One key for all processes: the second to come waits until the first has migrated. */
const LOCK_KEY = [7305, 0] as const;

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
}

/** The migrations that this version of the service ships, in order. */
export function shippedMigrations(): Migration[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(".sql"))
    .sort()
    .map((file) => ({
      version: Number.parseInt(file, 10),
      name: file.replace(/\.sql$/, ""),
      text: readFileSync(`${DIRECTORY}/${file}`, "utf8"),
    }));
}

/**
 * Brings the database to the shipped schema, in one transaction, and returns the names of the
 * migrations that were applied. Throws when the database is newer than this version.
 */
export async function migrate(sql: Sql): Promise<string[]> {
  const shipped = shippedMigrations();
  return await sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`SELECT pg_advisory_xact_lock(${LOCK_KEY[0]}, ${LOCK_KEY[1]})`;
    await tx`CREATE TABLE IF NOT EXISTS schema_migrations (
      version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`;
    const rows = await tx<{ version: number }[]>`SELECT version FROM schema_migrations`;
    const applied = new Set(rows.map((row) => row.version));
    const newest = Math.max(0, ...applied);
    const last = shipped.at(-1)?.version ?? 0;
    if (newest > last) {
      throw new Error(
        `the database has schema ${newest}, this version knows ${last}: run the newer version of Tessera`,
      );
    }
    const pending = shipped.filter((migration) => !applied.has(migration.version));
    for (const migration of pending) {
      await tx.unsafe(migration.text);
      await tx`INSERT INTO schema_migrations (version, name) VALUES (${migration.version}, ${migration.name})`;
    }
    return pending.map((migration) => migration.name);
  });
}

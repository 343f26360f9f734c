import type { Config } from "../config/schema.ts";
import { DB_CLOSE_TIMEOUT_SECONDS } from "../shared/limits.ts";
import { type DatabaseOptions, openDatabase, type Sql } from "./client.ts";
import { openEmbeddedDatabase } from "./embedded.ts";

interface OpenedDatabase {
  readonly sql: Sql;
  readonly url: string;
  /** True for the embedded server, false for the server in DATABASE_URL. */
  readonly embedded: boolean;
  close(): Promise<void>;
}

/** Opens the database in DATABASE_URL, or else the embedded one, which it starts or joins. */
export async function openConfiguredDatabase(
  config: Config,
  log: (line: string) => void,
  options: DatabaseOptions = {},
): Promise<OpenedDatabase> {
  if (config.databaseUrl !== undefined) {
    const sql = openDatabase(config.databaseUrl, options);
    const close = () => sql.end({ timeout: DB_CLOSE_TIMEOUT_SECONDS });
    return { sql, url: config.databaseUrl, embedded: false, close };
  }
  const server = await openEmbeddedDatabase({ dataDir: config.dataDir, log });
  const sql = openDatabase(server.url, options);
  return {
    sql,
    url: server.url,
    embedded: true,
    async close() {
      await sql.end({ timeout: DB_CLOSE_TIMEOUT_SECONDS });
      await server.close();
    },
  };
}

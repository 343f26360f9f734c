import { openDatabase, type Sql } from "../../src/db/client.ts";
import { openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { temporaryFolder } from "../../support/folders.ts";

export interface BenchDatabase {
  /** Where a server keeps its files, and the embedded PostgreSQL its own. */
  readonly dataDir: string;
  /** The variables of a server that uses this database. */
  readonly env: Readonly<Record<string, string>>;
  readonly url: string;
  /** Without a statement timeout, because bulk inserts take long. */
  readonly sql: Sql;
}

/** Starts an embedded PostgreSQL with the service's own settings and the current schema. It ends with the benchmark. */
export async function startDatabase(): Promise<BenchDatabase> {
  const dataDir = temporaryFolder("bench");
  const server = await openEmbeddedDatabase({ dataDir, log: () => {} });
  onCleanup(() => server.close());
  const sql = openDatabase(server.url, { statementTimeoutMs: 0 });
  onCleanup(() => sql.end());
  await migrate(sql);
  return { dataDir, env: { DATA_DIR: dataDir }, url: server.url, sql };
}

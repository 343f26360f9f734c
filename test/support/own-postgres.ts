import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase, type Sql } from "../../src/db/client.ts";
import { type EmbeddedDatabase, openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { dataFolder } from "../../support/embedded.ts";

/** What is committed must outlive a crash of the server; it need not outlive the machine. */
const SETTINGS = { fsync: "off", shared_buffers: "32MB", max_connections: "100" } as const;

export type OwnPostgres = {
  /** Stays the same over restarts. */
  readonly url: string;
  readonly sql: Sql;
  /** Stops it in order, which rolls back what runs, and starts it again. */
  restart(): Promise<void>;
  /** Ends it in the middle of everything and starts it again, to replay its log. */
  crash(): Promise<void>;
};

/** A PostgreSQL with the current schema that nobody else uses, so that it may be broken. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const dataDir = dataFolder();
  const start = () => openEmbeddedDatabase({ dataDir, log: () => {}, settings: SETTINGS });
  let server: EmbeddedDatabase = await start();
  const { url } = server;
  const sql = openDatabase(url, { connections: 4 });
  await migrate(sql);
  onCleanup(async () => {
    await sql.end({ timeout: 1 });
    await server.close();
  });

  const isGone = (pid: number) => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };
  return {
    url,
    sql,
    async restart() {
      await server.close();
      server = await start();
    },
    async crash() {
      const file = readFileSync(join(dataDir, "postgres", "cluster", "postmaster.pid"), "utf8");
      const pid = Number.parseInt(file, 10);
      // An immediate shutdown: every process of the server quits where it stands.
      process.kill(pid, "SIGQUIT");
      while (!isGone(pid)) await Bun.sleep(5);
      server = await start();
    },
  };
}

import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { openDatabase, type Sql } from "../../src/db/client.ts";
import { type EmbeddedDatabase, openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { onCleanup } from "../cleanup.ts";
import type { Fault } from "../faults.ts";
import { until, untilPasses } from "../until.ts";
import { dataFolder, openOnPort } from "./embedded.ts";
import { freezeServer, serverPid } from "./frozen-postgres.ts";
import { inServerFolder } from "./postgres.ts";

/** Committed data must survive a crash of the server, but not of the machine. */
const SETTINGS = { fsync: "off", shared_buffers: "32MB", max_connections: "100" } as const;

export type OwnPostgres = {
  /** Stays the same after restarts. */
  readonly url: string;
  readonly sql: Sql;
  /** The folder of its files. */
  readonly cluster: string;
  /** Shuts it down, which rolls back open transactions, and starts it again. */
  restart(): Promise<void>;
  /** Aborts it and starts it again, so that it replays its log. */
  crash(): Promise<void>;
  /** Kills one of its processes, after which it ends all others and replays its log. */
  killBackend(): Promise<void>;
  /** Stops all its processes where they are. Connections stay open, and nothing answers. */
  freeze(): Promise<Fault>;
};

/** Whether a server accepts sessions. */
async function answers(url: string): Promise<boolean> {
  const sql = openDatabase(url, { connections: 1 });
  const isUp = await sql`SELECT 1`.then(() => true).catch(() => false);
  await sql.end();
  return isUp;
}

/** Starts a PostgreSQL with the current schema that no other test uses, so it may be crashed. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const dataDir = await folderWithCluster();
  let server: EmbeddedDatabase = await openOnPort(dataDir, SETTINGS);
  const { url } = server;
  const { port } = new URL(url);
  const sql = openDatabase(url, { connections: 4, patience: "command" });
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
  const cluster = join(dataDir, "postgres", "cluster");
  return {
    freeze: () => freezeServer(cluster),
    async killBackend() {
      // It may still replay its log after the last one.
      await untilPasses("a process of PostgreSQL is killed", async () => {
        const [backend] = await sql<{ pid: number }[]>`
          SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'
            AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1`;
        if (backend !== undefined) process.kill(backend.pid, "SIGKILL");
      });
    },
    url,
    sql,
    cluster,
    async restart() {
      await server.close();
      server = await openOnPort(dataDir, { ...SETTINGS, port });
    },
    async crash() {
      const pid = serverPid(cluster);
      // An immediate shutdown: every process of the server exits without cleaning up.
      process.kill(pid, "SIGQUIT");
      await until("the aborted PostgreSQL has ended", () => isGone(pid));
      // Its owner, this process, starts it again.
      await until("PostgreSQL answers again", () => answers(url));
    },
  };
}

/** What a cluster is made of. Its lock and its socket are those of one place. */
const PARTS = ["cluster", "password"] as const;

let prepared: Promise<string> | undefined;

/**
 * A new DATA_DIR with a cluster of the current schema that has never been used. It is a copy: creating a
 * cluster and applying every migration takes a second of processor time.
 */
export async function folderWithCluster(): Promise<string> {
  prepared ??= prepare();
  const folder = dataFolder();
  const from = await prepared;
  mkdirSync(join(folder, "postgres"), { mode: 0o711 });
  const parts = PARTS.map((part) => join(from, "postgres", part));
  const copy = Bun.spawnSync(["cp", "-a", ...parts, join(folder, "postgres")]);
  if (!copy.success) throw new Error(`no cluster can be copied: ${copy.stderr}`);
  return folder;
}

/** The folder that all processes of a run copy from. The first to ask makes it, beside the cluster of their server. */
function prepare(): Promise<string> {
  return inServerFolder(async (cluster) => {
    const folder = join(dirname(cluster), "prepared");
    if (existsSync(folder)) return folder;
    const partial = `${folder}-by-${process.pid}`;
    const server = await openEmbeddedDatabase({
      dataDir: partial,
      log: () => {},
      settings: { fsync: "off" },
    });
    const sql = openDatabase(server.url, { connections: 1, patience: "command" });
    await migrate(sql);
    await sql.end();
    await server.close();
    renameSync(partial, folder);
    return folder;
  });
}

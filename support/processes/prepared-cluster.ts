import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { openDatabase } from "../../src/db/client.ts";
import { openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { dataFolder } from "./embedded.ts";
import { inServerFolder } from "./postgres.ts";

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

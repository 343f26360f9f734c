import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { onCleanup } from "../cleanup.ts";
import { abandonedFolders, memoryFolder } from "../folders.ts";

/** A new DATA_DIR. A PostgreSQL that a killed server leaves running in it is stopped at the end. */
export function dataFolder(): string {
  const folder = memoryFolder("data");
  onCleanup(() => stopEmbeddedServer(folder));
  return folder;
}

/** Stops the embedded PostgreSQL of a folder by joining it and leaving as its last user. */
export async function stopEmbeddedServer(folder: string): Promise<void> {
  if (!existsSync(join(folder, "postgres", "cluster", "postmaster.pid"))) return;
  const server = await openEmbeddedDatabase({ dataDir: folder, log: () => {} });
  await server.close();
}

/** Stops the servers and removes the folders of test processes that were killed. */
export async function removeAbandonedFolders(): Promise<void> {
  for (const folder of abandonedFolders()) {
    try {
      await stopEmbeddedServer(folder);
    } finally {
      // A killed process may have left a small disk there, which would keep the folder.
      Bun.spawnSync(["umount", "-l", folder]);
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

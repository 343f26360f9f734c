import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openEmbeddedDatabase } from "../src/db/embedded.ts";
import { onCleanup } from "./cleanup.ts";
import { abandonedFolders, temporaryFolder } from "./folders.ts";

/** A DATA_DIR of its own. A PostgreSQL that a killed server leaves running in it is stopped. */
export function dataFolder(): string {
  const folder = temporaryFolder("data");
  onCleanup(() => stopEmbeddedServer(folder));
  return folder;
}

/** Stops the embedded PostgreSQL of a folder by joining it and leaving as its last user. */
export async function stopEmbeddedServer(folder: string): Promise<void> {
  if (!existsSync(join(folder, "postgres", "cluster", "postmaster.pid"))) return;
  const server = await openEmbeddedDatabase({ dataDir: folder, log: () => {} });
  await server.close();
}

/** Ends what test processes left behind that were killed before they could clean up. */
export async function removeAbandonedFolders(): Promise<void> {
  for (const folder of abandonedFolders()) {
    try {
      await stopEmbeddedServer(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

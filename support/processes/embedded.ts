import { hasCluster, locateCluster } from "../../src/db/embedded/location.ts";
import { endLeftServer } from "../../src/db/embedded/server.ts";
import { type EmbeddedDatabase, openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { onCleanup } from "../cleanup.ts";
import { memoryFolder, removeAbandonedFolders } from "../folders.ts";
import { onFreePort } from "./ports.ts";

/** A new DATA_DIR. A PostgreSQL that a killed server leaves running in it is stopped at the end. */
export function dataFolder(): string {
  const folder = memoryFolder("data");
  onCleanup(() => stopEmbeddedServer(folder));
  return folder;
}

/** Stops the PostgreSQL that a killed process has left running in a folder. */
export async function stopEmbeddedServer(folder: string): Promise<void> {
  if (hasCluster(folder)) await endLeftServer(locateCluster(folder));
}

/** Opens a PostgreSQL that listens on a port, as those of users do, so that tests can be between it and its clients. */
export async function openOnPort(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): Promise<EmbeddedDatabase> {
  const open = async (port: number | string) => {
    const server = await openEmbeddedDatabase({
      dataDir,
      log: () => {},
      settings: { ...settings, listen_addresses: "127.0.0.1", port: String(port) },
    });
    const { username, password } = new URL(server.url);
    return { ...server, url: `postgres://${username}:${password}@127.0.0.1:${port}/postgres` };
  };
  const { port } = settings;
  return await (port === undefined ? onFreePort(open) : open(port));
}

/** Stops the servers and removes the folders of test processes that were killed. */
export async function removeLeftovers(): Promise<void> {
  await removeAbandonedFolders(async (contents) => {
    for (const folder of contents) {
      await stopEmbeddedServer(folder);
      // A killed process may have left a small disk there, which would keep the folder.
      Bun.spawnSync(["umount", "-l", folder]);
    }
  });
}

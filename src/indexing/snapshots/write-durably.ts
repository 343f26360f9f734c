import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Snapshots hold the contents of projects, so only the service's account may read them. */
export const PRIVATE_DIRECTORY = 0o700;
export const PRIVATE_FILE = 0o600;

/** Makes changes to the entries of a directory durable, such as renames. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Replaces a file atomically: after a crash it has either the old contents or the new ones. Only its
 * owner can read it.
 */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.new`;
  try {
    await writeSynced(temporary, bytes);
    await rename(temporary, path);
  } catch (error) {
    // On a full disk the part that was written would keep others from being written.
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

async function writeSynced(temporary: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(temporary, "w", PRIVATE_FILE);
  try {
    // A file that a crash left behind keeps the mode that it was created with.
    await handle.chmod(PRIVATE_FILE);
    for (let at = 0; at < bytes.byteLength; ) {
      at += (await handle.write(bytes, at, bytes.byteLength - at)).bytesWritten;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

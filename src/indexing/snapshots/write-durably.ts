import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Makes the entries of a folder durable, renames for one. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes a file that is either there whole after a crash, or as it was before. */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const aside = `${path}.new`;
  const handle = await open(aside, "w");
  try {
    for (let at = 0; at < bytes.byteLength; ) {
      at += (await handle.write(bytes, at, bytes.byteLength - at)).bytesWritten;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(aside, path);
  await syncFolder(dirname(path));
}

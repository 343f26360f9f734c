import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Makes changes to the entries of a directory durable, such as renames. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Replaces a file atomically: after a crash it has either the old contents or the new ones. */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.new`;
  const handle = await open(temporary, "w");
  try {
    for (let at = 0; at < bytes.byteLength; ) {
      at += (await handle.write(bytes, at, bytes.byteLength - at)).bytesWritten;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Snapshots hold the contents of projects, so only the service's account may read them. */
export const PRIVATE_DIRECTORY = 0o700;
export const PRIVATE_FILE = 0o600;

/** The suffix of a file that is being written, and that a power cut may leave. */
export const UNFINISHED = ".new";

interface DurableFile {
  /** By default only the owner can read the file. */
  readonly mode?: number;
  /** The name of the file while it is written. Concurrent writers need different ones. */
  readonly temporary?: string;
}

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
 * Replaces a file atomically: after a crash or a power cut it has either the old contents or the new ones. Only its
 * owner can read it.
 */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = path + UNFINISHED;
  try {
    await writeSynced(temporary, bytes);
    await rename(temporary, path);
  } catch (error) {
    // On a full disk the partial file would take the space of other files.
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

/** Like `writeDurably`, for callers that cannot or must not wait for other threads. */
export function writeDurablySync(
  path: string,
  contents: Uint8Array | string,
  { mode = PRIVATE_FILE, temporary = path + UNFINISHED }: DurableFile = {},
): void {
  const bytes = typeof contents === "string" ? Buffer.from(contents) : contents;
  try {
    const file = openSync(temporary, "w", mode);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncSync(dirname(path));
}

function syncSync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes the names of a path and of all folders above it durable. Any process may have created those folders. */
export function syncNames(path: string): void {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    try {
      syncSync(folder);
    } catch (error) {
      // Another account created a folder that this account cannot read.
      if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    }
    if (folder === dirname(folder)) return;
  }
}

/** Makes a folder with everything in it durable, but not its name. Links are left out. */
export function syncTree(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) syncSync(join(entry.parentPath, entry.name));
  }
  syncSync(folder);
}

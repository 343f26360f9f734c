import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Makes the entries of a folder durable, renames for one. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Writes a file that is either there whole after a crash, or as it was before. */
export function writeDurably(path: string, bytes: Uint8Array): void {
  const aside = `${path}.new`;
  const handle = openSync(aside, "w");
  try {
    for (let at = 0; at < bytes.byteLength; ) at += writeSync(handle, bytes, at);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(aside, path);
  syncFolder(dirname(path));
}

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { onCleanup } from "./cleanup.ts";

const PREFIX = "tessera-test-";
/** A file system in memory, on Linux. */
const MEMORY = "/dev/shm";
/** So much memory must be free before tests keep their data there. They use about a quarter of it. */
const FREE_MEMORY_MIN_BYTES = 4 * 2 ** 30;

/**
 * Creates a folder that is removed at the end. Its name contains the process id, so that a later run
 * recognises the leftovers of a killed one. Other accounts may traverse it, because PostgreSQL runs
 * under another account when root starts it.
 */
export function temporaryFolder(purpose: string, base = tmpdir()): string {
  const folder = mkdtempSync(join(base, `${PREFIX}${process.pid}-${purpose}-`));
  chmodSync(folder, 0o711);
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * A temporary folder for data of servers, in memory if there is plenty. A third of the processor time of
 * tests is that of file systems otherwise, because ext4, for one, searches long for the place of a new
 * file after many others were deleted. Programs may not be executable there.
 */
export function memoryFolder(purpose: string): string {
  return temporaryFolder(purpose, hasMemory() ? MEMORY : tmpdir());
}

function hasMemory(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return Math.min(bavail * bsize, freemem()) >= FREE_MEMORY_MIN_BYTES;
}

/** Folders of processes that were killed before they could clean up, but those of other users. */
export function abandonedFolders(): string[] {
  return [tmpdir(), MEMORY].filter(existsSync).flatMap((base) =>
    readdirSync(base)
      .filter((name) => {
        const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : NaN;
        return !Number.isNaN(pid) && !isAlive(pid);
      })
      .map((name) => join(base, name))
      .filter(isRemovable),
  );
}

function isRemovable(folder: string): boolean {
  const own = process.getuid?.() ?? 0;
  return own === 0 || lstatSync(folder, { throwIfNoEntry: false })?.uid === own;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

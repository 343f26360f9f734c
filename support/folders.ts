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
import { tryLockFile, unlockFile } from "../native/index.ts";
import { onCleanup, startShared } from "./cleanup.ts";

const PREFIX = "tessera-tests-";
/** The process that uses a folder has the lock of this file, which the kernel takes from it when it ends. */
const LOCK_FILE = "lock";
/** A file system in memory, on Linux. */
const MEMORY = "/dev/shm";
/** So much memory must be free before tests keep their data there. They use about a quarter of it. */
const FREE_MEMORY_MIN_BYTES = 4 * 2 ** 30;

/** The folders of this process, by the folder that they are in. */
const own = new Map<string, string>();

/**
 * Creates a folder that is removed at the end. It is in a folder of this process, so that a later run recognises
 * the leftovers of a killed one. Other accounts may traverse it, because PostgreSQL runs under another account
 * when root starts it.
 */
export function temporaryFolder(purpose: string, base = tmpdir()): string {
  const folder = mkdtempSync(join(ownFolder(base), `${purpose}-`));
  chmodSync(folder, 0o711);
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function ownFolder(base: string): string {
  const known = own.get(base);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(base, PREFIX));
  const lock = tryLockFile(join(folder, LOCK_FILE));
  // Another run has taken the lock before this process did, and removes the folder.
  if (lock === null || !existsSync(folder)) return ownFolder(base);
  chmodSync(folder, 0o711);
  own.set(base, folder);
  const remove = () => {
    own.delete(base);
    rmSync(folder, { recursive: true, force: true });
    unlockFile(lock);
  };
  void startShared(() => onCleanup(remove));
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

/**
 * Calls `work` with the contents of each folder that a killed process of this user has left, and removes the folder
 * afterwards. A folder without a lock is that of a process that is starting, or of somebody else.
 */
export async function removeAbandonedFolders(
  work: (contents: readonly string[]) => Promise<void>,
  bases = [tmpdir(), MEMORY],
): Promise<void> {
  for (const folder of bases.filter(existsSync).flatMap(testFoldersIn)) {
    const lock = lockOf(folder);
    if (lock === null) continue;
    try {
      await work(readdirSync(folder).map((name) => join(folder, name)));
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      process.stderr.write(`${folder} stays: ${error}\n`);
    } finally {
      unlockFile(lock);
    }
  }
}

/** The lock of a folder that was there before; null where another process has it, or has just removed the folder. */
function lockOf(folder: string): ReturnType<typeof tryLockFile> {
  try {
    return tryLockFile(join(folder, LOCK_FILE));
  } catch (error) {
    if (existsSync(folder)) throw error;
    return null;
  }
}

function testFoldersIn(base: string): string[] {
  return readdirSync(base)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(base, name))
    .filter((folder) => isOwn(folder) && existsSync(join(folder, LOCK_FILE)));
}

function isOwn(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.();
}

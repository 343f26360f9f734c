/**
 * A lock between processes that prepare a clone, which cannot use the file locks of the addon yet. As a program it
 * runs a command under the lock: `bun native/lock.ts FILE COMMAND [ARGUMENTS]`.
 */
import { Database, SQLiteError } from "bun:sqlite";

/** How often a waiting process tries to take the lock. */
const LOCK_POLL_MS = 100;

/** True when a process with this id exists. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user cannot be signalled, but exists.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Takes the lock if it is free. The returned function releases it. */
function tryLock(path: string): (() => void) | undefined {
  // Bun has no call that locks a file. SQLite has one, and the kernel takes the lock from a process that ends.
  const database = new Database(path);
  try {
    database.run("BEGIN EXCLUSIVE");
    return () => database.close();
  } catch (error) {
    database.close();
    if (error instanceof SQLiteError && error.code === "SQLITE_BUSY") return undefined;
    // On a file system without locks, two processes do the same work twice.
    return () => {};
  }
}

/** Runs `work` while no other process holds the lock, a file that stays. */
export async function locked<T>(path: string, work: () => Promise<T>): Promise<T> {
  let release = tryLock(path);
  for (; release === undefined; release = tryLock(path)) await Bun.sleep(LOCK_POLL_MS);
  try {
    return await work();
  } finally {
    release();
  }
}

if (import.meta.main) {
  const [path = "", ...command] = process.argv.slice(2);
  const run = () => Bun.spawn(command, { stdio: ["inherit", "inherit", "inherit"] }).exited;
  process.exit(await locked(path, run));
}

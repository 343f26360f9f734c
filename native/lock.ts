/** A lock among the processes that build the addon, needed before there is an addon to lock files. */
import { lstatSync, readlinkSync, rmSync, symlinkSync } from "node:fs";

/** How often a waiting process looks whether the lock is free, in milliseconds. */
const LOCK_POLL_MS = 100;
/** A lock this old belongs to a process long gone, even if another one has its number by now. */
const LOCK_MAX_AGE_MS = 600_000;

/** True when there is such a process. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process may not be signalled, yet it runs.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** True when the lock is ours. The link names its maker, so that a killed one's is taken over. */
function tryLock(lock: string): boolean {
  try {
    symlinkSync(String(process.pid), lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  try {
    const old = Date.now() - lstatSync(lock).mtimeMs > LOCK_MAX_AGE_MS;
    if (old || !isRunning(Number(readlinkSync(lock)))) rmSync(lock, { force: true });
  } catch {
    // Its owner has just released it.
  }
  return false;
}

/**
 * Runs `work` while no other process holds the lock, a path in an existing folder. Two processes
 * that take over the lock of a killed one at the same instant may both run: the lock only avoids
 * doing work twice, correctness does not depend on it.
 */
export async function locked(lock: string, work: () => Promise<void>): Promise<void> {
  while (!tryLock(lock)) await Bun.sleep(LOCK_POLL_MS);
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

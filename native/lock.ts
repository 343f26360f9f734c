/** A lock between processes that build the addon, which cannot use the file locks of the addon. */
import { lstatSync, readlinkSync, rmSync, symlinkSync } from "node:fs";

/** How often a waiting process tries to take the lock. */
const LOCK_POLL_MS = 100;
/** A lock this old was left by a killed process, even if another process has its id by now. */
const LOCK_MAX_AGE_MS = 600_000;

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

/** Takes the lock if it is free. The link names its owner, so that a lock of a killed one is removed. */
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
    // The owner has just released it.
  }
  return false;
}

/**
 * Runs `work` while no other process holds the lock, a path in an existing folder. Two processes that
 * remove the lock of a killed one at the same time may both run: the lock only saves duplicate work,
 * and correctness must not depend on it.
 */
export async function locked(lock: string, work: () => Promise<void>): Promise<void> {
  while (!tryLock(lock)) await Bun.sleep(LOCK_POLL_MS);
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/**
 * Lowers the priority of the calling thread. Only Linux has priorities of threads: there a thread id is a valid
 * argument of setpriority.
 */
export function setThreadNiceness(niceness: number): void {
  if (niceness === 0) return;
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    setPriority(thread, niceness);
  } catch {
    // Elsewhere the thread runs like the others.
  }
}

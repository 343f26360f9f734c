import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/**
 * Makes the calling thread step back behind others, by a niceness. Only Linux knows priorities of
 * threads: there a thread id is a valid argument of setpriority.
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

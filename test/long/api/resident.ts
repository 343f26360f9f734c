import { readFileSync } from "node:fs";

/** The memory that a process has in use now, in MiB, as Linux counts it. */
export function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

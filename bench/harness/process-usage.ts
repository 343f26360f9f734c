import { readFileSync } from "node:fs";

/** Clock ticks per second in /proc/<pid>/stat, the same on every Linux that Bun runs on. */
const TICKS_PER_SECOND = 100;

/** CPU seconds that all threads of a process have used so far. */
export function cpuTimes(pid: number): { readonly user: number; readonly system: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The program's name comes first, in parentheses, and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const secondsOf = (ticks = "") => Number(ticks) / TICKS_PER_SECOND;
  return { user: secondsOf(fields[11]), system: secondsOf(fields[12]) };
}

/** Their sum. */
export function cpuSeconds(pid: number): number {
  const { user, system } = cpuTimes(pid);
  return user + system;
}

/** Resident bytes of a process: in memory of its own, and in pages of mapped files, which the system can drop. */
export function residentBytes(pid: number): {
  readonly anonymous: number;
  readonly mapped: number;
} {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytesOf = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]) * 1024;
  return { anonymous: bytesOf("RssAnon"), mapped: bytesOf("RssFile") };
}

/** Seconds of the clock, and CPU seconds of all threads of this process. */
export interface Spent {
  readonly seconds: number;
  readonly cpu: number;
}

/** What a piece of work takes. */
export function spentBy(work: () => void): Spent {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return { seconds: (performance.now() - startedAt) / 1_000, cpu: (user + system) / 1e6 };
}

export const sumOf = (a: Spent, b: Spent): Spent => ({
  seconds: a.seconds + b.seconds,
  cpu: a.cpu + b.cpu,
});

const WARM_UP = 50;

/** Mean CPU microseconds per call of `work`, over the numbers from 0 to `count`. */
export function cpuMicroseconds(count: number, work: (number: number) => void): number {
  for (let number = 0; number < Math.min(WARM_UP, count); number++) work(number);
  const before = process.cpuUsage();
  for (let number = 0; number < count; number++) work(number);
  const spent = process.cpuUsage(before);
  return (spent.user + spent.system) / count;
}

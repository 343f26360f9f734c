import { readFileSync } from "node:fs";

/** Clock ticks per second in /proc/<pid>/stat, the same on every Linux that Bun runs on. */
const TICKS_PER_SECOND = 100;

/** CPU seconds that all threads of a process have used so far, user and system. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The program's name comes first, in parentheses, and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident bytes of a process, without the pages of mapped files. */
export function anonymousBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) * 1024;
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

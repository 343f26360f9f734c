/** Which test files run together in one process, and in which order. */
import { readFileSync, writeFileSync } from "node:fs";
import { Glob } from "bun";

/** Seconds that each test file took when all of them ran, by its path. */
const SECONDS_FILE = "test/seconds.json";
/** Assumed for a file that has never been recorded. */
const UNKNOWN_SECONDS = 5;
/**
 * A process takes files of one folder until they add up to this. The first files of a process cost two seconds of
 * processor time more than later ones: a service that all share starts, and its code is compiled.
 */
const GROUP_SECONDS = 150;
/** Number of concurrent test processes: more than cores, because many tests wait for servers. */
export const PARALLEL = 5;
/** Suites with commands of their own, because they need other programs or more time. */
export const OTHER_SUITES: Readonly<Record<string, string>> = {
  "test/long/engine/": "npm run test:engine",
  "test/long/recall/": "npm run test:recall",
  "test/upgrade/": "npm run test:upgrade",
};

/** The test files whose path contains one of the patterns, or all of them. */
export async function testFiles(patterns: readonly string[]): Promise<string[]> {
  const files = await Array.fromAsync(new Glob("test/**/*.test.ts").scan("."));
  const wanted = patterns.map((pattern) => pattern.replace(/^\.\//, ""));
  const matches = (file: string): boolean =>
    wanted.length === 0 || wanted.some((pattern) => file.includes(pattern));
  const isOther = (file: string): boolean =>
    Object.keys(OTHER_SUITES).some((suite) => file.startsWith(suite));
  return files.filter((file) => matches(file) && !isOther(file)).sort();
}

/** The number of tests in the text of a file; one that is repeated for a table counts once. */
export function declaredTests(text: string): number {
  return text.match(/^ *test(\.\w+\(.*?\))?\(/gm)?.length ?? 0;
}

/**
 * Groups of files for one process each, from one folder, so that its slow start happens few times. What
 * takes longest comes first, so that all processes end at about the same time.
 */
export function groupsOf(files: readonly string[]): string[][] {
  const recorded = readSeconds();
  const secondsOf = (file: string): number => recorded[file] ?? UNKNOWN_SECONDS;
  const total = files.reduce((sum, file) => sum + secondsOf(file), 0);
  // Few files are divided among all processes.
  const room = Math.min(GROUP_SECONDS, total / PARALLEL);
  const groups: { files: string[]; seconds: number }[] = [];
  for (const folder of Map.groupBy(files, (file) => file.split("/")[1] ?? "").values()) {
    const own: typeof groups = [];
    for (const file of folder.toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
      const seconds = secondsOf(file);
      const open = own.find((group) => group.seconds + seconds <= room);
      if (open === undefined) own.push({ files: [file], seconds });
      else {
        open.files.push(file);
        open.seconds += seconds;
      }
    }
    groups.push(...own);
  }
  return groups.sort((a, b) => b.seconds - a.seconds).map((group) => group.files);
}

/** Keeps the seconds of the files that ran, for the next order. */
export function recordSeconds(seconds: ReadonlyMap<string, number>): void {
  const rounded = [...seconds].map(([file, value]) => [file, Math.round(value * 10) / 10] as const);
  const sorted = rounded.sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(SECONDS_FILE, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}

function readSeconds(): Record<string, number> {
  return JSON.parse(readFileSync(SECONDS_FILE, "utf8"));
}

/** Which test files there are, which of them run together in one process, and in which order. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Glob } from "bun";

/** The tests that take long, which only `npm run test:all` runs. */
const LONG = "test/long/";
/** Seconds of the test files that take long, by path. `--record` writes it, so that these start first. */
const SECONDS_FILE = "test/seconds.json";
/** Recorded are files that take at least this. */
const RECORDED_SECONDS = 3;
/** Assumed for the others. */
const OTHER_SECONDS = 0.7;
/**
 * A process takes files of one folder until they add up to this. The first files of a process cost two seconds of
 * processor time more than later ones: a service that all share starts, and its code is compiled.
 */
const GROUP_SECONDS = 60;
/** All processes share one PostgreSQL, which has connections for about this many. */
const LANES_MAX = 16;

/** Number of concurrent test processes: one more than cores, because tests wait for servers, and more make the service of
 * each other busy enough to refuse requests. */
export const LANES = Math.min(availableParallelism() + 1, LANES_MAX);

/** The folder whose result is shown in one line, for example `test/api` or `test/long/api`. */
export function folderOf(file: string): string {
  return /^test\/(?:long\/)?[^/]+/.exec(file)?.[0] ?? "";
}

/** The test files whose path contains one of the patterns, or all of them. */
export async function testFiles(patterns: readonly string[], withLong: boolean): Promise<string[]> {
  const files = await Array.fromAsync(new Glob("test/**/*.test.ts").scan("."));
  const wanted = patterns.map((pattern) => pattern.replace(/^\.\//, ""));
  const matches = (file: string): boolean =>
    wanted.length === 0 || wanted.some((pattern) => file.includes(pattern));
  return files.filter((file) => matches(file) && (withLong || !file.startsWith(LONG))).sort();
}

/** The number of tests in the text of a file; one that is repeated for a table counts once. */
export function declaredTests(text: string): number {
  return text.match(/^ *test(\.\w+\(.*?\))?\(/gm)?.length ?? 0;
}

/**
 * Groups of files for one process each, from one folder, so that its slow start happens few times. The longest come
 * first, so that all processes end at about the same time.
 */
export function groupsOf(files: readonly string[]): string[][] {
  const recorded = readSeconds();
  const secondsOf = (file: string): number => recorded[file] ?? OTHER_SECONDS;
  const total = files.reduce((sum, file) => sum + secondsOf(file), 0);
  // Few files are divided among all processes.
  const room = Math.min(GROUP_SECONDS, total / LANES);
  const groups: { files: string[]; seconds: number }[] = [];
  for (const folder of Map.groupBy(files, folderOf).values()) {
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

/** Keeps the seconds of the files that ran, for the next order, and those of files that exist and did not run. */
export function recordSeconds(seconds: ReadonlyMap<string, number>): void {
  const known = Object.entries(readSeconds()).filter(
    ([file]) => !seconds.has(file) && existsSync(file),
  );
  const long = [...seconds].filter(([, value]) => value >= RECORDED_SECONDS);
  const rounded = [...known, ...long].map(([file, value]) => [file, Math.round(value)] as const);
  const sorted = rounded.sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(SECONDS_FILE, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}

function readSeconds(): Record<string, number> {
  return JSON.parse(readFileSync(SECONDS_FILE, "utf8"));
}

import { Glob } from "bun";
import { onCleanup } from "../support/cleanup.ts";
import { withRecentLogs } from "../support/service-logs.ts";

/** Milliseconds per test, far more than any takes on a busy machine: only a test that hangs takes this long. */
const TEST_TIMEOUT_MS = 600_000;
/** Milliseconds per test process. A process that does not end is killed and counts as a failure. */
const PROCESS_TIMEOUT_MS = 1_200_000;
const MICROSECONDS_PER_SECOND = 1_000_000;

/**
 * The last level of the compiler costs a tenth of the tests' processor time, and pays after minutes only. Giving freed
 * memory back to the system costs some percent, and tests take it again.
 */
const RUNTIME = { BUN_JSC_useFTLJIT: "0", MIMALLOC_PURGE_DELAY: "-1" } as const;

export type Counts = { passed: number; failed: number; skipped: number };
export interface Outcome {
  readonly counts: Counts;
  readonly output: string;
  readonly cpuSeconds: number;
  /** A line for each test that failed: its file, its name and the first line of its error. */
  readonly failures: readonly string[];
}

/** Runs test files in a process of their own. `report` is the file for its results. */
export async function runTestFiles(
  files: readonly string[],
  report: string,
  env: Record<string, string | undefined>,
): Promise<Outcome> {
  const { status, output, cpuSeconds } = await execute(
    [
      "test",
      "--only-failures",
      `--timeout=${TEST_TIMEOUT_MS}`,
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...files.map((file) => `./${file}`),
    ],
    env,
  );
  const file = Bun.file(report);
  const results = (await file.exists()) ? await file.text() : "";
  const counts = countsOf(results);
  const failures = failuresOf(results);
  // A crash or an error outside any test is a failure, too, although no test has failed.
  if (status !== 0 && counts.failed === 0) {
    counts.failed = 1;
    failures.push(`${files.join(" ")}: the process ended with status ${status}`);
  }
  return { counts, output: withRecentLogs(output), cpuSeconds, failures };
}

/** Runs a program that prints as its last line how many tests have passed and failed. */
export async function runCounting(
  args: readonly string[],
  env: Record<string, string | undefined>,
): Promise<Outcome> {
  const { status, output, cpuSeconds } = await execute(args, env);
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(output) ?? [];
  const counts = { passed: Number(passed ?? 0), failed: Number(failed ?? 1), skipped: 0 };
  if (status !== 0 && counts.failed === 0) counts.failed = 1;
  const failures = counts.failed > 0 ? [`${args.join(" ")}: see its output above`] : [];
  return { counts, output, cpuSeconds, failures };
}

/** Runs Bun with these arguments. The CPU time is that of the process and of all that it started and awaited. */
export async function execute(
  args: readonly string[],
  env: Record<string, string | undefined>,
): Promise<{ status: number; output: string; cpuSeconds: number }> {
  const program = Bun.spawn([process.execPath, ...args], {
    env: { ...env, ...RUNTIME },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: PROCESS_TIMEOUT_MS,
  });
  const release = onCleanup(() => program.kill("SIGTERM"));
  const [status, stdout, stderr] = await Promise.all([
    program.exited,
    program.stdout.text(),
    program.stderr.text(),
  ]);
  await release();
  const cpuSeconds = Number(program.resourceUsage()?.cpuTime.total ?? 0) / MICROSECONDS_PER_SECOND;
  return { status, output: `${stdout}${stderr}`, cpuSeconds };
}

/** The totals are attributes of the root element of a report. */
function countsOf(report: string): Counts {
  const root = /<testsuites [^>]*>/.exec(report)?.[0] ?? "";
  const number = (name: string): number => Number(attribute(root, name) ?? 0);
  const failed = number("failures") + number("errors");
  const skipped = number("skipped");
  return { passed: number("tests") - failed - skipped, failed, skipped };
}

/** One line for each test of a report that failed. */
function failuresOf(report: string): string[] {
  const failed = report.matchAll(/(<testcase [^>]*>)\s*(<failure [^>]*>)/g);
  return Array.from(failed, ([, test = "", failure = ""]) => {
    const [message = ""] = (attribute(failure, "message") ?? "").split("\n", 1);
    return `${attribute(test, "file")}: ${attribute(test, "name")}: ${message}`;
  });
}

/** The value of an attribute of an XML element. */
function attribute(element: string, name: string): string | undefined {
  const [, value] = new RegExp(` ${name}="([^"]*)"`).exec(element) ?? [];
  return value?.replace(/&(lt|gt|quot|apos|#10|amp);/g, (_, entity) => ENTITIES[entity] ?? "");
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  amp: "&",
  "#10": "\n",
};

/** The seconds that each file took, by its path, from the reports in a folder. */
export async function secondsByFile(reports: string): Promise<Map<string, number>> {
  const seconds = new Map<string, number>();
  for await (const report of new Glob("*.xml").scan({ cwd: reports, absolute: true })) {
    const suites = (await Bun.file(report).text()).matchAll(/^ {2}<testsuite [^>]*>/gm);
    for (const [suite] of suites) {
      seconds.set(attribute(suite, "file") ?? "", Number(attribute(suite, "time")));
    }
  }
  return seconds;
}

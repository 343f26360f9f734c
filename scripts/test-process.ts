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
export type Outcome = { counts: Counts; output: string; cpuSeconds: number };

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
  const counts = await countsOf(report);
  // A crash or an error outside any test is a failure, too, although no test has failed.
  if (status !== 0 && counts.failed === 0) counts.failed = 1;
  return { counts, output: withRecentLogs(output), cpuSeconds };
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
  return { counts, output, cpuSeconds };
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

/** The totals are attributes of the root element of the report. */
async function countsOf(report: string): Promise<Counts> {
  const file = Bun.file(report);
  const root = (await file.exists())
    ? (await file.text()).match(/<testsuites [^>]*>/)?.[0]
    : undefined;
  const attribute = (name: string): number =>
    Number(root?.match(new RegExp(` ${name}="(\\d+)"`))?.[1] ?? 0);
  const failed = attribute("failures") + attribute("errors");
  const skipped = attribute("skipped");
  return { passed: attribute("tests") - failed - skipped, failed, skipped };
}

/** The seconds that each file took, by its path, from the reports in a folder. */
export async function secondsByFile(reports: string): Promise<Map<string, number>> {
  const seconds = new Map<string, number>();
  for await (const report of new Glob("*.xml").scan({ cwd: reports, absolute: true })) {
    const suites = (await Bun.file(report).text()).matchAll(/^ {2}<testsuite [^>]*>/gm);
    for (const [suite] of suites) {
      const [, file = ""] = / file="([^"]*)"/.exec(suite) ?? [];
      seconds.set(file, Number(/ time="([^"]*)"/.exec(suite)?.[1]));
    }
  }
  return seconds;
}

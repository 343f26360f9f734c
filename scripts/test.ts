/**
 * Runs every check of the repository: formatting and lint, types, all tests. `npm test -- --help` says more.
 * The last line is `N passed, N failed`, and the exit status is 0 only if nothing failed.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { installRuntime } from "../src/models/install-runtime.ts";
import { cleanUp } from "../support/cleanup.ts";
import { temporaryFolder } from "../support/folders.ts";
import { SERVER_VARIABLE, startPostgres } from "../support/processes/postgres.ts";
import {
  type Counts,
  execute,
  runTestFiles,
  secondsByFile,
} from "../support/processes/test-process.ts";
import {
  missingPrograms,
  needsOf,
  packagesOf,
  remedyOf,
  requirePrograms,
} from "../support/programs.ts";
import {
  declaredTests,
  groupsOf,
  OTHER_SUITES,
  PARALLEL,
  recordSeconds,
  testFiles,
} from "./test-groups.ts";

const USAGE = `usage: npm test -- [options] [patterns]

Without patterns: lint, types and all tests. With patterns only the test files whose path contains one of
them, for example "test/api/", "lookup" or "test/unit/text/terms.test.ts". Tests that need a program
that is not installed are skipped and counted; with the variable CI that is a failure.

  --record   store how long each file takes in test/seconds.json, from which the order is made
  --help
`;

type Outcome = { counts: Counts; output: string; cpuSeconds: number };
type Step = { name: string; run: () => Promise<Outcome> };

const PASSED: Counts = { passed: 1, failed: 0, skipped: 0 };
const FAILED: Counts = { passed: 0, failed: 1, skipped: 0 };

async function main(patterns: readonly string[], record: boolean): Promise<number> {
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  const reports = temporaryFolder("reports");
  const files = await testFiles(patterns);
  if (files.length === 0) throw new Error(`no test file matches ${patterns.join(", ")}`);
  const tests = async (): Promise<Step[]> => {
    await ensurePrograms();
    const groups = groupsOf(runnable(files, total));
    const env = { ...process.env, [SERVER_VARIABLE]: await startPostgres() };
    return groups.map((group, index) => testProcess(group, `${reports}/${index}.xml`, env));
  };
  await runAll(patterns.length > 0 ? [] : CHECKS, tests(), (counts) => {
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  });
  if (record) recordSeconds(await secondsByFile(reports));
  await cleanUp();
  for (const [suite, run] of Object.entries(OTHER_SUITES)) {
    process.stdout.write(`not run: ${suite} (${run})\n`);
  }
  reportMissing();
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
  process.stdout.write(`${total.passed} passed, ${total.failed} failed${skipped}\n`);
  return total.failed === 0 ? 0 : 1;
}

/** Runs steps, `later` ones as soon as they are known: what checks the sources need not wait for programs of tests. */
async function runAll(
  steps: readonly Step[],
  later: Promise<readonly Step[]>,
  add: (counts: Counts) => void,
): Promise<void> {
  const queue = [...steps];
  const known = later.then((tests) => queue.push(...tests));
  const next = async (): Promise<Step | undefined> => {
    if (queue.length === 0) await known;
    return queue.shift();
  };
  const work = async (): Promise<void> => {
    for (let step = await next(); step; step = await next()) {
      const begun = performance.now();
      const { counts, output, cpuSeconds } = await step.run();
      const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
      add(counts);
      // The output of steps in which everything passed is not shown. Skipped tests say why.
      if (counts.failed + counts.skipped > 0) process.stdout.write(`${output.trimEnd()}\n`);
      const verdict = counts.failed > 0 ? "FAIL" : "ok  ";
      const cost = `${seconds} s, CPU ${cpuSeconds.toFixed(1)} s`;
      process.stdout.write(`${verdict} ${step.name} (${counts.passed} passed, ${cost})\n`);
    }
  };
  // Where a lane fails for want of programs, the checks of the others still end before the last line is printed.
  const lanes = await Promise.allSettled(Array.from({ length: PARALLEL }, work));
  for (const lane of lanes) if (lane.status === "rejected") throw lane.reason;
}

/** Each checker of the compiler checks the types of the libraries again: several take twice the processor time. */
const ONE_CHECKER = "--singleThreaded";

const SOURCE_FOLDERS = ["src", "workers", "native", "test", "bench", "support", "scripts"];

const CHECKS: readonly Step[] = [
  command("typescript-7/bin/tsc", [ONE_CHECKER]),
  command(".bin/biome", ["check", "--error-on-warnings"]),
  // The scripts of the console, which run in browsers.
  command("typescript-7/bin/tsc", [ONE_CHECKER, "-p", "src/console/page"]),
  // The scripts that k6 runs.
  command("typescript-7/bin/tsc", [ONE_CHECKER, "-p", "bench/k6"]),
  // Files and exports without a user.
  command(".bin/knip", []),
  // The direction of imports.
  command(".bin/depcruise", ["--output-type", "err", ...SOURCE_FOLDERS]),
];

/** A tool of node_modules that counts as one check. */
function command(name: string, args: readonly string[]): Step {
  return {
    name: basename(name),
    async run() {
      const { status, ...rest } = await execute(
        [process.execPath, `node_modules/${name}`, ...args],
        process.env,
      );
      return { counts: status === 0 ? PASSED : FAILED, ...rest };
    },
  };
}

function testProcess(
  files: readonly string[],
  report: string,
  env: Record<string, string | undefined>,
): Step {
  const [first = "", ...others] = files;
  return {
    name: others.length === 0 ? first : `${first} and ${others.length} more`,
    run: () => runTestFiles(files, report, env),
  };
}

/** Installs what is missing where that is possible. Throws where what is still missing is a failure. */
async function ensurePrograms(): Promise<void> {
  const packages = packagesOf(missingPrograms());
  if (packages.length > 0 && process.getuid?.() === 0 && Bun.which("apt-get")) {
    process.stdout.write(`installing ${packages.join(", ")} for the tests\n`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const install = ["install", "-y", "--no-install-recommends", ...packages];
    for (const args of [["update"], install]) {
      const program = Bun.spawn(["apt-get", ...args], {
        env,
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
      });
      await program.exited;
    }
  }
  if (missingPrograms().includes("onnxruntime")) {
    process.stdout.write("installing the runtime of models for the tests\n");
    await installRuntime("").catch((error: Error) => process.stdout.write(`${error.message}\n`));
  }
  requirePrograms();
}

/** The files that can run. Of the others, says what they need and how many tests they declare. */
function runnable(files: readonly string[], total: Counts): string[] {
  const missing = new Set<string>(missingPrograms());
  return files.filter((file) => {
    const text = readFileSync(file, "utf8");
    const lacking = needsOf(text).filter((name) => missing.has(name));
    if (lacking.length === 0) return true;
    const tests = declaredTests(text);
    total.skipped += tests;
    process.stdout.write(`skip ${file} (${tests} skipped: no ${lacking.join(", ")})\n`);
    return false;
  });
}

/** Says how to get the programs for want of which tests were skipped. */
function reportMissing(): void {
  for (const name of missingPrograms()) {
    process.stdout.write(
      `not installed, tests that need it are skipped: ${name} (${remedyOf(name)})\n`,
    );
  }
}

try {
  const { values, positionals } = parseArgs({
    options: { record: { type: "boolean" }, help: { type: "boolean" } },
    allowPositionals: true,
  });
  if (values.help) process.stdout.write(USAGE);
  else process.exitCode = await main(positionals, values.record ?? false);
} catch (error) {
  await cleanUp();
  process.stderr.write(`tessera: ${error instanceof Error ? error.message : error}\n`);
  process.stdout.write("0 passed, 1 failed\n");
  process.exitCode = 1;
}

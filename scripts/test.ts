/**
 * Runs every check of the repository: formatting and lint, types, tests. `npm test -- --help` says more.
 * The last line is `N passed, N failed`, and the exit status is 0 only if nothing failed.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { installRuntime } from "../src/embed/models/install-runtime.ts";
import { cleanUp } from "../support/cleanup.ts";
import { temporaryFolder } from "../support/folders.ts";
import { SERVER_VARIABLE, startPostgres } from "../support/processes/postgres.ts";
import {
  missingPrograms,
  needsOf,
  type ProgramName,
  packagesOf,
  programsOf,
  remedyOf,
  requirePrograms,
} from "../support/programs.ts";
import { freshSeed, LENGTH_VARIABLE, SEED_VARIABLE } from "../support/seed.ts";
import { hasEngines, SOURCES_VARIABLE } from "../test/long/engine/extensions.ts";
import { FolderResults } from "./folder-results.ts";
import {
  declaredTests,
  folderOf,
  groupsOf,
  LANES,
  recordSeconds,
  testFiles,
} from "./test-groups.ts";
import {
  type Counts,
  execute,
  type Outcome,
  runCounting,
  runTestFiles,
  secondsByFile,
} from "./test-process.ts";

const USAGE = `usage: npm test -- [options] [patterns]
       npm run test:all -- [options] [patterns]

npm test runs lint, types and all tests but those in test/long. npm run test:all runs these, too, and its
random tests have another seed each time. With patterns only the test files run whose path contains one of
them, for example "test/api/", "lookup" or "test/unit/text/terms.test.ts". Tests that need a program
that is not installed are skipped and counted; with the variable CI that is a failure.

  --seed N     the seed of the random tests, to repeat a run
  --length N   the random tests in test/long go on N times as long (default 1)
  --record     store the seconds of the files that take long in test/seconds.json, from which the order is made
  --help
`;

interface Step {
  /** In whose line the result is shown. */
  readonly folder: string;
  run(): Promise<Outcome>;
}

const ENGINE_FOLDER = "test/long/engine";
const PASSED: Counts = { passed: 1, failed: 0, skipped: 0 };
const FAILED: Counts = { passed: 0, failed: 1, skipped: 0 };

interface Options {
  readonly all?: boolean | undefined;
  readonly seed?: string | undefined;
  readonly length?: string | undefined;
  readonly record?: boolean | undefined;
}

async function main(patterns: readonly string[], options: Options): Promise<number> {
  const results = new FolderResults();
  const reports = temporaryFolder("reports");
  const files = await testFiles(patterns, options.all === true);
  if (files.length === 0) {
    const hint = options.all ? "" : " outside test/long, which npm run test:all runs";
    throw new Error(`no test file${hint} matches ${patterns.join(", ")}`);
  }
  const programs = programsOf(files);
  const variables = randomChoices(options);
  const tests = async (): Promise<Step[]> => {
    await ensurePrograms(programs);
    const [engine, others] = ofEngine(files);
    const groups = groupsOf(runnable(others, missingPrograms(programs), results));
    const env = { ...process.env, ...variables, [SERVER_VARIABLE]: await startPostgres() };
    const steps = groups.map((group, index) => ({
      folder: folderOf(group[0] as string),
      run: () => runTestFiles(group, `${reports}/${index}.xml`, env),
    }));
    return [...engineSteps(engine, patterns.length > 0, results), ...steps];
  };
  await runAll(patterns.length > 0 ? [] : CHECKS, tests(), results);
  if (options.record) recordSeconds(await secondsByFile(reports));
  await cleanUp();
  reportMissing(programs);
  // The output of a failure may be thousands of lines above.
  for (const failure of results.failures) process.stdout.write(`failed: ${failure}\n`);
  const { passed, failed, skipped } = results.total;
  process.stdout.write(
    `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
  );
  return failed === 0 ? 0 : 1;
}

/** The variables by which all processes of this run make the same random choices. */
function randomChoices({ all, seed, length }: Options): Record<string, string | undefined> {
  const chosen = seed ?? process.env[SEED_VARIABLE] ?? (all ? String(freshSeed()) : undefined);
  if (chosen !== undefined) process.stdout.write(`seed ${chosen}, repeat with --seed ${chosen}\n`);
  return { [SEED_VARIABLE]: chosen, [LENGTH_VARIABLE]: length };
}

/** Runs steps, `later` ones as soon as they are known: checks of the sources need not wait for programs of tests. */
async function runAll(
  steps: readonly Step[],
  later: Promise<readonly Step[]>,
  results: FolderResults,
): Promise<void> {
  const queue = [...steps];
  results.expect(steps);
  const known = later.then((tests) => {
    results.expect(tests);
    queue.push(...tests);
  });
  const next = async (): Promise<Step | undefined> => {
    if (queue.length === 0) await known;
    return queue.shift();
  };
  const work = async (): Promise<void> => {
    for (let step = await next(); step; step = await next()) {
      const begun = performance.now();
      const outcome = await step.run();
      results.add(step.folder, outcome, (performance.now() - begun) / 1_000);
    }
  };
  // Where a lane fails for want of programs, the checks of the others still end before the last line is printed.
  const lanes = await Promise.allSettled(Array.from({ length: LANES }, work));
  for (const lane of lanes) if (lane.status === "rejected") throw lane.reason;
}

/** Each checker of the compiler checks the types of the libraries again: several take twice the processor time. */
const ONE_CHECKER = "--singleThreaded";

const SOURCE_FOLDERS = ["src", "workers", "native", "test", "bench", "support", "scripts"];

const CHECKS: readonly Step[] = [
  command("types", "typescript-7/bin/tsc", [ONE_CHECKER]),
  command("lint", ".bin/biome", ["check", "--error-on-warnings"]),
  // The scripts of the console, which run in browsers.
  command("types", "typescript-7/bin/tsc", [ONE_CHECKER, "-p", "src/console/page"]),
  // The scripts that k6 runs.
  command("types", "typescript-7/bin/tsc", [ONE_CHECKER, "-p", "bench/k6"]),
  // Files and exports without a user.
  command("lint", ".bin/knip", []),
  // The direction of imports.
  command("lint", ".bin/depcruise", ["--output-type", "err", ...SOURCE_FOLDERS]),
];

/** A tool of node_modules that counts as one check. */
function command(folder: string, program: string, args: readonly string[]): Step {
  return {
    folder,
    async run() {
      const { status, ...rest } = await execute([`node_modules/${program}`, ...args], process.env);
      const failures = status === 0 ? [] : [`${program} ${args.join(" ")}: see its output above`];
      return { counts: status === 0 ? PASSED : FAILED, failures, ...rest };
    },
  };
}

/** Installs what is missing where that is possible. Throws where what is still missing is a failure. */
async function ensurePrograms(wanted: readonly ProgramName[]): Promise<void> {
  const packages = packagesOf(missingPrograms(wanted));
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
  if (missingPrograms(wanted).includes("onnxruntime")) {
    process.stdout.write("installing the runtime of models for the tests\n");
    await installRuntime("").catch((error: Error) => process.stdout.write(`${error.message}\n`));
  }
  requirePrograms(wanted);
}

/** The files that can run. Of the others, says what they need and how many tests they declare. */
function runnable(
  files: readonly string[],
  missing: readonly string[],
  results: FolderResults,
): string[] {
  return files.filter((file) => {
    const text = readFileSync(file, "utf8");
    const lacking = needsOf(text).filter((name) => missing.includes(name));
    if (lacking.length === 0) return true;
    const tests = declaredTests(text);
    results.total.skipped += tests;
    process.stdout.write(`skip ${file} (${tests} skipped: no ${lacking.join(", ")})\n`);
    return false;
  });
}

/** The tests of the engine pgvector, and the others. */
function ofEngine(files: readonly string[]): [engine: string[], others: string[]] {
  const isEngine = (file: string) => folderOf(file) === ENGINE_FOLDER;
  return [files.filter(isEngine), files.filter((file) => !isEngine(file))];
}

/** The tests of the engine have a command of their own, because they need other servers. */
function engineSteps(
  files: readonly string[],
  areChosen: boolean,
  { total }: FolderResults,
): readonly Step[] {
  if (files.length === 0) return [];
  if (hasEngines()) {
    const args = ["scripts/engine.ts", ...(areChosen ? files : [])];
    return [{ folder: ENGINE_FOLDER, run: () => runCounting(args, process.env) }];
  }
  const tests = files.reduce((sum, file) => sum + declaredTests(readFileSync(file, "utf8")), 0);
  total.skipped += tests;
  const remedy = `install it, or name the folder of its sources in ${SOURCES_VARIABLE}`;
  process.stdout.write(`skip ${ENGINE_FOLDER} (${tests} skipped: no pgvector, ${remedy})\n`);
  return [];
}

/** Says how to get the programs for want of which tests were skipped. */
function reportMissing(names: readonly ProgramName[]): void {
  for (const name of missingPrograms(names)) {
    process.stdout.write(
      `not installed, tests that need it are skipped: ${name} (${remedyOf(name)})\n`,
    );
  }
}

try {
  const { values, positionals } = parseArgs({
    options: {
      all: { type: "boolean" },
      record: { type: "boolean" },
      help: { type: "boolean" },
      seed: { type: "string" },
      length: { type: "string" },
    },
    allowPositionals: true,
  });
  if (values.help) process.stdout.write(USAGE);
  else process.exitCode = await main(positionals, values);
} catch (error) {
  await cleanUp();
  process.stderr.write(`tessera: ${error instanceof Error ? error.message : error}\n`);
  process.stdout.write("0 passed, 1 failed\n");
  process.exitCode = 1;
}

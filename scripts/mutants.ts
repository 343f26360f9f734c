/**
 * Breaks the product by the small edits of test/mutants, one at a time and in a copy of the clone, and runs the
 * tests that have to notice: `npm run test:mutants`. A survivor is a line that can be broken while they stay green.
 */
import * as fs from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { onCleanup, runProgram } from "../support/cleanup.ts";
import { temporaryFolder } from "../support/folders.ts";
import { SERVER_VARIABLE, startPostgres } from "../support/processes/postgres.ts";
import { Random } from "../support/random.ts";
import { freshSeed, SEED_VARIABLE } from "../support/seed.ts";
import { type Mutant, readMutants } from "./mutant-lists.ts";

const USAGE = `usage: npm run test:mutants -- [options] [patterns]

Without patterns: all mutants. With patterns only those whose file or reason contains one of them.

  --sample N   only N of them, chosen at random
  --seed N     the seed of the choice, to repeat a run
  --help
`;
/** The tests of a file that take longer do not end: a test that hangs notices the mutant, too. */
const FILE_TIMEOUT_MS = 300_000;
/** The folder of the compiled addon, which each copy of the clone has its own of. */
const ADDON = "native/build";
const NATIVE_SOURCES = "native/src/";

/** Copies the clone with its changes. An interrupted run leaves broken files in the copy only. */
function copyOfClone(): string {
  const folder = temporaryFolder("mutants");
  const listed = Bun.spawnSync(["git", "ls-files", "-z", "-co", "--exclude-standard"]);
  for (const file of listed.stdout.toString().split("\0").filter(fs.existsSync)) {
    fs.mkdirSync(dirname(join(folder, file)), { recursive: true });
    fs.copyFileSync(file, join(folder, file));
  }
  fs.symlinkSync(join(process.cwd(), "node_modules"), join(folder, "node_modules"));
  fs.cpSync(ADDON, join(folder, ADDON), { recursive: true });
  return folder;
}

/** Compiles the addon of a copy as its sources are. */
async function compileAddon(copy: string): Promise<void> {
  await Bun.$`${process.execPath} native/build.ts`.cwd(copy).quiet();
}

/** The error that a test file has thrown before its first test; undefined for a file that cannot be loaded. */
function earlyError(output: string): string | undefined {
  const [, report = ""] = output.split("# Unhandled error between tests");
  // An error of the parser or of an import has no stack.
  return /^ {6}at /m.test(report) ? /^error: (.*)$/m.exec(report)?.[1] : undefined;
}

/** Runs tests in a copy. Returns the name of the first that fails; undefined if all pass. */
async function firstFailure(copy: string, tests: readonly string[]): Promise<string | undefined> {
  const files = tests.map((file) => `./${file}`);
  const args = ["test", "--bail", `--timeout=${FILE_TIMEOUT_MS}`, ...files];
  const program = Bun.spawn([process.execPath, ...args], {
    cwd: copy,
    timeout: FILE_TIMEOUT_MS * tests.length,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const release = onCleanup(() => program.kill("SIGTERM"));
  const [output, status] = await Promise.all([program.stderr.text(), program.exited]);
  await release();
  if (status === 0) return undefined;
  const failed = /^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/m.exec(output)?.[1];
  if (failed !== undefined) return failed;
  const early = earlyError(output);
  if (early !== undefined) return early;
  if (program.signalCode !== null || status === 143) return "a test that did not end";
  throw new Error(`${tests.join(", ")} did not run:\n${output}`);
}

/** Runs tests in a copy that one file is broken in. */
async function failureOf(copy: string, mutant: Mutant): Promise<string | undefined> {
  const { file, find, replace, tests } = mutant;
  const path = join(copy, file);
  const text = fs.readFileSync(path, "utf8");
  fs.writeFileSync(path, text.split(find).join(replace));
  try {
    if (file.startsWith(NATIVE_SOURCES)) await compileAddon(copy);
    return await firstFailure(copy, tests);
  } finally {
    fs.writeFileSync(path, text);
    if (file.startsWith(NATIVE_SOURCES)) {
      fs.rmSync(join(copy, ADDON), { recursive: true });
      fs.cpSync(ADDON, join(copy, ADDON), { recursive: true });
    }
  }
}

/** Failures without a mutant, by test files: tests that fail anyway would kill every mutant. */
const otherFailures = new Map<string, Promise<string | undefined>>();

/** Runs the tests of a mutant with and without it, and prints the verdict. True if they notice it. */
async function isKilled(copy: string, mutant: Mutant): Promise<boolean> {
  const { file, tests, why } = mutant;
  const names = tests.join(", ");
  const failed = await failureOf(copy, mutant);
  if (failed === undefined) {
    process.stdout.write(`SURVIVED ${file}: ${why}; by ${names}\n`);
    return false;
  }
  const other = otherFailures.get(names) ?? firstFailure(copy, tests);
  otherFailures.set(names, other);
  if ((await other) !== undefined) {
    process.stdout.write(`UNKNOWN  ${file}: ${why}; without it "${await other}" fails, too\n`);
    return false;
  }
  process.stdout.write(`killed   ${file}: ${why}; by "${failed}"\n`);
  return true;
}

async function runAll(mutants: readonly Mutant[]): Promise<void> {
  process.env[SERVER_VARIABLE] ??= await startPostgres();
  const queue = [...mutants];
  let killed = 0;
  const work = async (): Promise<void> => {
    const copy = copyOfClone();
    for (let next = queue.shift(); next; next = queue.shift()) {
      if (await isKilled(copy, next)) killed++;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  process.stdout.write(`${killed} of ${mutants.length} killed\n`);
  if (killed < mutants.length) process.exitCode = 1;
}

await runProgram(async () => {
  const { values, positionals: patterns } = parseArgs({
    options: {
      sample: { type: "string", default: String(Number.MAX_SAFE_INTEGER) },
      seed: { type: "string", default: process.env[SEED_VARIABLE] ?? String(freshSeed()) },
      help: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  if (values.help) return void process.stdout.write(USAGE);
  const [all, seed, sample] = [readMutants(), Number(values.seed), Number(values.sample)];
  const isMeant = ({ file, why }: Mutant) =>
    patterns.length === 0 || patterns.some((pattern) => `${file} ${why}`.includes(pattern));
  const mutants = new Random(seed).sample(all.filter(isMeant), sample);
  if (mutants.length === 0 || !Number.isSafeInteger(seed)) throw new Error(USAGE);
  process.stdout.write(`seed ${seed}: ${mutants.length} of ${all.length} mutants\n`);
  await runAll(mutants);
});

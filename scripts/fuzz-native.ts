/**
 * Fuzzes the native search core with libFuzzer under AddressSanitizer and UndefinedBehaviorSanitizer:
 * `npm run fuzz:native -- --seconds 600`. Needs clang (Debian: apt-get install clang).
 *
 * Each target of native/fuzz runs for this time, one after the other. What it learns is kept in
 * .cache/fuzz, so that the next run goes on from there. An input that fails is stored beside it, and
 * `--input FILE` repeats it. The exit status is 0 when nothing failed.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { callerDirectory } from "../src/ops/config/caller.ts";
import { FUZZ_TARGETS, type FuzzTarget } from "./fuzz-targets.ts";

const USAGE = `usage: npm run fuzz:native -- [options]

  --seconds N        for each target (default 600)
  --target NAME      only this one: ${FUZZ_TARGETS.map(({ name }) => name).join(", ")}
  --seed N           of libFuzzer (default: random)
  --input FILE       with --target: repeats an input instead
  --help
`;
const MEMORY_MB = 2_048;
/** No single allocation may be larger, whatever an input claims. */
const ALLOCATION_MB = 1_024;
const SANITIZERS = "fuzzer,address,undefined";

const root = join(import.meta.dir, "..");
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "600" },
    target: { type: "string" },
    seed: { type: "string" },
    input: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

function run(command: readonly string[]): boolean {
  const environment = { ...process.env, UBSAN_OPTIONS: "print_stacktrace=1" };
  const stdio = ["ignore", "inherit", "inherit"] as const;
  return Bun.spawnSync([...command], { cwd: root, env: environment, stdio: [...stdio] }).success;
}

function compile({ name, sources, flags = [] }: FuzzTarget, folder: string): string {
  const program = join(folder, name);
  const files = sources.flatMap((pattern) => [...new Glob(pattern).scanSync("native/src")]);
  const inputs = [`native/fuzz/${name}.cc`, ...files.map((file) => `native/src/${file}`)];
  const options = ["-std=c++20", "-O1", "-g", "-fno-omit-frame-pointer", "-fno-math-errno"];
  const sanitizers = [`-fsanitize=${SANITIZERS}`, "-fno-sanitize-recover=undefined"];
  const includes = ["-I", "native/src", "-I", "native/fuzz"];
  const all = [...options, ...flags, ...sanitizers, ...includes, ...inputs, "-o", program];
  if (!run(["clang++", ...all, "-lpthread"]))
    throw new Error(`the target ${name} does not compile`);
  return program;
}

/** Runs a target. Returns whether it found nothing. */
function fuzz(target: FuzzTarget): boolean {
  const folder = join(root, ".cache", "fuzz", target.name);
  const corpus = join(folder, "corpus");
  mkdirSync(corpus, { recursive: true });
  const program = compile(target, folder);
  if (values.input !== undefined) {
    return run([program, resolve(callerDirectory(), values.input)]);
  }
  for (const [at, seed] of target.seeds().entries())
    writeFileSync(join(corpus, `seed-${at}`), seed);
  process.stdout.write(
    `${target.name}: ${values.seconds} s, ${readdirSync(corpus).length} inputs\n`,
  );
  return run([
    program,
    corpus,
    `-max_total_time=${values.seconds}`,
    `-max_len=${target.maxBytes}`,
    `-rss_limit_mb=${MEMORY_MB}`,
    `-malloc_limit_mb=${ALLOCATION_MB}`,
    `-artifact_prefix=${folder}/`,
    "-print_final_stats=1",
    "-verbosity=0",
    ...(values.seed === undefined ? [] : [`-seed=${values.seed}`]),
  ]);
}

function main(): number {
  if (Bun.which("clang++") === null) {
    process.stderr.write("clang++ is missing: install it (Debian: apt-get install clang)\n");
    return 1;
  }
  const chosen = FUZZ_TARGETS.filter(({ name }) => (values.target ?? name) === name);
  if (chosen.length === 0) {
    process.stderr.write(`there is no target ${values.target}\n${USAGE}`);
    return 2;
  }
  const failed = chosen.filter((target) => !fuzz(target));
  const verdict = failed.length === 0 ? "clean" : `failed: ${failed.map(({ name }) => name)}`;
  process.stdout.write(`${chosen.length} targets, ${verdict}\n`);
  return failed.length === 0 ? 0 : 1;
}

if (values.help) process.stdout.write(USAGE);
else process.exit(main());

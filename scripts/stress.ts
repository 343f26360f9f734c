/**
 * Runs the native search core with builders, searchers, replaced shards, snapshots and dropped projects
 * at once, under ThreadSanitizer and then under AddressSanitizer and UndefinedBehaviorSanitizer:
 * `npm run test:threads -- --seconds 60`. Linux, g++. The exit status is 0 when nothing was found.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const USAGE = `usage: npm run test:threads -- [options]

  --seconds N        with each set of sanitizers (default 60)
  --help
`;
/** Sanitizers that work together. */
const SETS = ["thread", "address,undefined"];
/** The code for JavaScript is not linked, and kernels are compiled apart. */
const EXCLUDED = ["addon.cc", "binding", "testing", "kernels", "text", "retrieval"];

const root = join(import.meta.dir, "..");
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    help: { type: "boolean", default: false },
  },
});

const folder = mkdtempSync(join(tmpdir(), "tessera-stress-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

function run(command: readonly string[]): boolean {
  const environment = {
    ...process.env,
    TSAN_OPTIONS: "halt_on_error=1",
    UBSAN_OPTIONS: "print_stacktrace=1",
  };
  const stdio = ["ignore", "inherit", "inherit"] as const;
  return Bun.spawnSync([...command], { cwd: root, env: environment, stdio: [...stdio] }).success;
}

/** What is compiled as one unit. Lookups and retrievals by text are left out, because they share no state. */
function sources(): string[] {
  return readdirSync(join(root, "native/src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".cc") && !EXCLUDED.some((part) => name.startsWith(part)))
    .map((name) => `native/src/${name}`);
}

const COMMON = [
  "-std=c++20",
  "-g",
  "-fno-omit-frame-pointer",
  "-fno-math-errno",
  "-I",
  "native/src",
];
const PORTABLE = ["-DTESSERA_CPU_HAS_AVX2=0", "-DTESSERA_CPU_HAS_AVX512=0"];

function compiler(...options: readonly string[]): void {
  if (!run([process.env.CXX ?? "g++", ...COMMON, ...PORTABLE, ...options])) {
    throw new Error("the program does not compile");
  }
}

/** Kernels only read what they are given. Under a sanitizer they would take all the time. */
function compileKernels(): string {
  const unit = join(folder, "kernels.cc");
  writeFileSync(unit, '#include "kernels/kernels.cc"\n#include "kernels/kernels_portable.cc"\n');
  const object = join(folder, "kernels.o");
  compiler("-O3", "-c", unit, "-o", object);
  return object;
}

function compile(sanitizers: string, kernels: string): string {
  const program = join(folder, `stress-${sanitizers.replace(",", "-")}`);
  const unit = join(folder, "all.cc");
  const files = [...sources(), "native/stress/stress.cc"];
  writeFileSync(unit, files.map((file) => `#include "${join(root, file)}"\n`).join(""));
  const sanitize = [`-fsanitize=${sanitizers}`, "-fno-sanitize-recover=all"];
  const includes = ["-isystem", "node_modules/usearch/include"];
  compiler("-O1", ...sanitize, ...includes, unit, kernels, "-o", program, "-lpthread");
  return program;
}

if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const kernels = compileKernels();
for (const sanitizers of SETS) {
  const data = join(folder, "data");
  mkdirSync(data, { recursive: true });
  process.stdout.write(`${sanitizers}: `);
  if (!run([compile(sanitizers, kernels), values.seconds, data])) process.exit(1);
}

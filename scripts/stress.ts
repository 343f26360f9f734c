/**
 * Runs the programs of native/stress under ThreadSanitizer and then under AddressSanitizer and
 * UndefinedBehaviorSanitizer: `npm run test:threads -- --seconds 60`. One runs the native search core with builders,
 * searchers, replaced shards, snapshots and dropped projects at once; another builds and merges text segments, and looks
 * up words in them; the third adds fields while their values are counted. Linux, g++. The exit status is 0 when nothing
 * was found.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Unit, unitsFor } from "../native/units.ts";

const USAGE = `usage: npm run test:threads -- [options]

  --seconds N        with each program and set of sanitizers (default 60)
  --help
`;
/** Sanitizers that work together. */
const SETS = ["thread", "address,undefined"];
/** The code for JavaScript is not linked, and kernels are compiled apart. */
const EXCLUDED = ["addon.cc", "binding", "testing", "kernels", "retrieval"];

/** The programs, and the files of native/src that each of them consists of. */
const PROGRAMS: readonly { name: string; uses(file: string): boolean }[] = [
  { name: "stress", uses: (file) => !file.startsWith("text") },
  { name: "text", uses: (file) => /^(?:text|common|json\/write)/.test(file) },
  { name: "fields", uses: (file) => /^(?:fields|common|json)/.test(file) },
];

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

const COMMON = ["-g", "-fno-omit-frame-pointer", "-fno-math-errno"];
const INCLUDES = [
  "-I",
  "native/src",
  "-isystem",
  "native/vendor/snowball",
  "-isystem",
  "node_modules/usearch/include",
  "-isystem",
  "node_modules/zstd-napi/deps/zstd/lib",
];
const PORTABLE = ["-DTESSERA_CPU_HAS_AVX2=0", "-DTESSERA_CPU_HAS_AVX512=0"];

function compiler(...options: readonly string[]): void {
  if (!run([process.env.CXX ?? "g++", ...COMMON, ...INCLUDES, ...PORTABLE, ...options])) {
    throw new Error("the program does not compile");
  }
}

/** Compiles files as one unit, and returns the path of the object. */
function compileUnit(source: Unit, ...options: string[]): string {
  const { name, files, defines = [], language = "c++" } = source;
  const unit = join(folder, `${name}.${language}`);
  const object = join(folder, `${name}.o`);
  const lines = [
    ...defines.map((define) => `#define ${define}\n`),
    ...files.map((file) => `#include "${file}"\n`),
  ];
  writeFileSync(unit, lines.join(""));
  const standard = language === "c" ? "-std=c11" : "-std=c++20";
  compiler(standard, ...options, "-x", language, "-c", unit, "-o", object);
  return object;
}

/** Kernels only read their arguments, and compressors and stemmers belong to a thread. Sanitizers would slow them down. */
function compileOthers(): string[] {
  const files = ["kernels/kernels.cc", "kernels/kernels_portable.cc"];
  const thirdParty = unitsFor(process.arch).filter(({ language }) => language === "c");
  return [{ name: "kernels", files, extensions: [] }, ...thirdParty].map((unit) =>
    compileUnit(unit, "-O3"),
  );
}

/** The sources are grouped as in the addon, because files of several groups define the same names. */
function compile({ name, uses }: (typeof PROGRAMS)[number], sanitizers: string): string {
  const program = join(folder, `${name}-${sanitizers.replace(",", "-")}`);
  const sanitize = [`-fsanitize=${sanitizers}`, "-fno-sanitize-recover=all"];
  const isUsed = (file: string) =>
    uses(file) && !EXCLUDED.some((excluded) => file.startsWith(excluded));
  const units = unitsFor(process.arch)
    .filter(({ language }) => language === undefined)
    .map((unit) => ({ ...unit, files: unit.files.filter(isUsed) }))
    .filter(({ files }) => files.length > 0);
  const main = { name, files: [join(root, `native/stress/${name}.cc`)], extensions: [] };
  const objects = [...units, main].map((unit) => compileUnit(unit, "-O1", ...sanitize));
  compiler(...sanitize, ...objects, ...others, "-o", program, "-lpthread");
  return program;
}

if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const others = compileOthers();
for (const program of PROGRAMS) {
  for (const sanitizers of SETS) {
    const data = join(folder, "data");
    mkdirSync(data, { recursive: true });
    const path = compile(program, sanitizers);
    process.stdout.write(`${program.name}, ${sanitizers}: `);
    if (!run([path, values.seconds, data])) process.exit(1);
  }
}

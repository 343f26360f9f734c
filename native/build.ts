/**
 * Compiles the native search core: `bun native/build.ts [--asan] [--force]`. Does nothing when the
 * addon is up to date with its sources.
 *
 * It calls the C++ compiler directly. The addon runs on any processor of its architecture: files
 * written for an instruction set are compiled for it, and the code picks among them at run time.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { join, parse } from "node:path";
import { isRunning, locked } from "./lock.ts";

const root = import.meta.dir;
const sources = join(root, "src");
const output = join(root, "build");
const modules = join(root, "..", "node_modules");

/** A failed build. The first line of the message names the remedy. */
class BuildError extends Error {
  override readonly name = "BuildError";
}

interface BuildOptions {
  /** Instrument with AddressSanitizer and UndefinedBehaviorSanitizer. */
  asan?: boolean;
}

/** Sources that are compiled as one translation unit. */
interface Unit {
  name: string;
  /** Relative to `native/src`. */
  files: readonly string[];
  /** Instruction set extensions that the compiler may use. */
  extensions: readonly string[];
}

const AVX2 = ["avx2", "fma", "popcnt", "bmi"];
const AVX512 = [...AVX2, "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vpopcntdq"];

/** Files with these suffixes are for one architecture and are compiled alone, with its extensions. */
const INSTRUCTION_SETS: Readonly<
  Record<string, { arch: NodeJS.Architecture; extensions: readonly string[] }>
> = {
  _avx512: { arch: "x64", extensions: AVX512 },
  _avx2: { arch: "x64", extensions: AVX2 },
  _neon: { arch: "arm64", extensions: [] },
};

/**
 * Folders below `native/src` that share most of their headers, which take most of the time to compile:
 * each group is one unit. A folder that is not listed is a unit of its own; "" is `native/src` itself.
 */
const FOLDER_GROUPS: readonly (readonly string[])[] = [
  ["codes", "graph", "index", "search", "json"],
  ["", "binding", "testing"],
  ["common", "storage", "project", "snapshot"],
];

/** A C++ condition: the processor has all of the extensions. */
const processorHas = (extensions: readonly string[]) =>
  extensions.map((extension) => `__builtin_cpu_supports("${extension}")`).join("&&");

function flags(options: BuildOptions): string[] {
  return [
    "-std=c++20",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-math-errno",
    "-Wall",
    "-Wextra",
    "-DNAPI_VERSION=8",
    "-DNODE_ADDON_API_CPP_EXCEPTIONS",
    `-DTESSERA_CPU_HAS_AVX2=(${processorHas(AVX2)})`,
    `-DTESSERA_CPU_HAS_AVX512=(${processorHas(AVX512)})`,
    "-I",
    sources,
    "-isystem",
    join(modules, "node-addon-api"),
    "-isystem",
    join(modules, "node-api-headers", "include"),
    "-isystem",
    join(modules, "usearch", "include"),
    ...(options.asan
      ? [
          "-O1",
          "-g",
          "-fno-omit-frame-pointer",
          "-fsanitize=address,undefined",
          "-fno-sanitize-recover=undefined",
          "-DTESSERA_ASAN",
        ]
      : ["-O3", "-DNDEBUG"]),
  ];
}

const linkFlags =
  process.platform === "darwin" ? ["-bundle", "-undefined", "dynamic_lookup"] : ["-shared"];

function compiler(): string {
  const candidates = [process.env.CXX, "g++", "clang++", "c++"];
  for (const candidate of candidates) {
    if (candidate && Bun.which(candidate)) return candidate;
  }
  const remedy = process.platform === "darwin" ? "xcode-select --install" : "apt-get install g++";
  throw new BuildError(`no C++ compiler found; install one with: ${remedy}`);
}

/** Every C++ file below `native/src`, relative to it, sorted. */
function sourceFiles(): string[] {
  return readdirSync(sources, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(cc|hpp)$/.test(name))
    .sort();
}

/** The units for this architecture: groups of folders, and each file for an instruction set. */
function unitsHere(): Unit[] {
  const folders = new Map<string, string[]>();
  const units: Unit[] = [];
  for (const file of sourceFiles().filter((name) => name.endsWith(".cc"))) {
    const { dir, name } = parse(file);
    const suffix = Object.keys(INSTRUCTION_SETS).find((ending) => name.endsWith(ending));
    const set = suffix === undefined ? undefined : INSTRUCTION_SETS[suffix];
    if (set === undefined) folders.set(dir, [...(folders.get(dir) ?? []), file]);
    else if (set.arch === process.arch) units.push({ name, files: [file], ...set });
  }
  const alone = [...folders.keys()].filter((dir) => !FOLDER_GROUPS.flat().includes(dir));
  const groups = [...FOLDER_GROUPS, ...alone.map((dir) => [dir])].map((dirs) => ({
    name: `folder-${dirs.at(-1)}`,
    files: dirs.flatMap((dir) => folders.get(dir) ?? []),
    extensions: [],
  }));
  return [...groups, ...units];
}

/** A hash of everything that the addon depends on. */
function fingerprint(options: BuildOptions): string {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([process.platform, process.arch, flags(options), linkFlags]));
  hash.update(readFileSync(import.meta.path));
  for (const name of sourceFiles()) {
    hash.update(name);
    hash.update(readFileSync(join(sources, name)));
  }
  for (const name of ["node-addon-api", "node-api-headers", "usearch"]) {
    hash.update(readFileSync(join(modules, name, "package.json")));
  }
  return hash.digest("hex");
}

/** The path of the built addon. */
export function addonPath(options: BuildOptions = {}): string {
  return join(output, options.asan ? "tessera-asan.node" : "tessera.node");
}

const stampPath = (options: BuildOptions) => `${addonPath(options)}.stamp`;

/** True when the addon exists and was built from the current sources. */
export function isFresh(options: BuildOptions = {}): boolean {
  if (!existsSync(addonPath(options)) || !existsSync(stampPath(options))) return false;
  return readFileSync(stampPath(options), "utf8") === fingerprint(options);
}

async function run(command: string[], input = ""): Promise<{ ok: boolean; output: string }> {
  const child = Bun.spawn(command, {
    stdin: Buffer.from(input),
    stdout: "ignore",
    stderr: "pipe",
    env: { ...process.env, LC_ALL: "C" },
  });
  const [code, text] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  return { ok: code === 0, output: text };
}

async function compileAll(cxx: string, folder: string, options: BuildOptions): Promise<string[]> {
  const pending = unitsHere();
  const objects: string[] = [];
  async function worker() {
    for (let unit = pending.shift(); unit; unit = pending.shift()) {
      const object = join(folder, `${unit.name}.o`);
      const extra = unit.extensions.map((extension) => `-m${extension}`);
      const command = [cxx, ...flags(options), ...extra, "-x", "c++", "-c", "-", "-o", object];
      const text = unit.files.map((file) => `#include "${file}"\n`).join("");
      const { ok, output } = await run(command, text);
      if (!ok) {
        const reason = `does not compile with ${cxx} (C++20 is needed)`;
        throw new BuildError(`the unit ${unit.name} ${reason}:\n${output}`);
      }
      objects.push(object);
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return objects.sort();
}

const OBJECTS = "objects-";

/** Removes the object folders of builds that were killed. */
function cleanLeftovers(): void {
  for (const name of readdirSync(output)) {
    if (!name.startsWith(OBJECTS) || isRunning(Number(name.slice(OBJECTS.length)))) continue;
    rmSync(join(output, name), { recursive: true, force: true });
  }
}

/** Compiles in a temporary folder and renames, so that a concurrent load sees a complete addon. */
async function compile(options: BuildOptions): Promise<void> {
  const cxx = compiler();
  const stamp = fingerprint(options);
  const folder = join(output, `${OBJECTS}${process.pid}`);
  cleanLeftovers();
  mkdirSync(folder, { recursive: true });
  try {
    const objects = await compileAll(cxx, folder, options);
    const linked = join(folder, "addon.node");
    const sanitize = options.asan ? ["-fsanitize=address,undefined"] : [];
    const link = [cxx, ...linkFlags, ...sanitize, ...objects, "-lpthread", "-o", linked];
    const { ok, output } = await run(link);
    if (!ok) throw new BuildError(`the addon does not link with ${cxx}:\n${output}`);
    renameSync(linked, addonPath(options));
    writeFileSync(stampPath(options), stamp);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Builds the addon unless it is up to date, and returns whether it did. Of processes that find it
 * stale at the same time, one builds and the others wait.
 */
export async function build(options: BuildOptions & { force?: boolean } = {}): Promise<boolean> {
  const needed = () => options.force === true || !isFresh(options);
  if (!needed()) return false;
  let built = false;
  mkdirSync(output, { recursive: true });
  await locked(join(output, "lock"), async () => {
    built = needed();
    if (built) await compile(options);
  });
  return built;
}

if (import.meta.main) {
  const options = {
    asan: process.argv.includes("--asan"),
    force: process.argv.includes("--force"),
  };
  try {
    const started = performance.now();
    const built = await build(options);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    if (built) console.log(`built ${addonPath(options)} in ${seconds} s`);
  } catch (error) {
    console.error(error instanceof BuildError ? error.message : error);
    process.exit(1);
  }
}

/**
 * Compiles the native search core: `bun native/build.ts [--asan] [--force]`. Does nothing when the
 * addon is up to date with its sources. Without a compiler it takes the prebuilt addon of these sources,
 * if there is one.
 *
 * It calls the C++ compiler directly. The addon runs on any processor of its architecture: files
 * written for an instruction set are compiled for it, and the code picks among them at run time.
 */
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
import { basename, join } from "node:path";
import { isRunning, locked } from "./lock.ts";
import { nameOf, type Target, takePrebuilt } from "./prebuilt.ts";
import {
  AVX2,
  AVX512,
  sourceFiles,
  sources,
  sourcesOf,
  type Unit,
  unitsFor,
  vendor,
  vendoredFiles,
} from "./units.ts";

const root = import.meta.dir;
const output = join(root, "build");
/** The objects of the last build. Another build of the same sources, such as a release, only links them. */
const objectFolder = join(output, "objects");
const modules = join(root, "..", "node_modules");

/** A failed build. The first line of the message names the remedy. */
class BuildError extends Error {
  override readonly name = "BuildError";
}

interface BuildOptions {
  /** Instrument with AddressSanitizer and UndefinedBehaviorSanitizer. */
  asan?: boolean;
  /** The machines that the addon is for; this one by default. */
  target?: Target;
  /** Link the C++ library, which differs between distributions, into the addon. */
  portable?: boolean;
}

const HERE: Target = { platform: process.platform, arch: process.arch };

/** A C++ condition: the processor has all of the extensions. */
const processorHas = (extensions: readonly string[]) =>
  extensions.map((extension) => `__builtin_cpu_supports("${extension}")`).join("&&");

/** The version of each language. */
const STANDARDS = { c: "-std=c11", "c++": "-std=c++20" } as const;

function flags(options: BuildOptions): string[] {
  return [
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-math-errno",
    "-Wall",
    "-Wextra",
    "-DNAPI_VERSION=8",
    "-DNODE_ADDON_API_CPP_EXCEPTIONS",
    `-DTESSERA_CPU_HAS_AVX2=(${processorHas(AVX2)})`,
    `-DTESSERA_CPU_HAS_AVX512=(${processorHas(AVX512)})`,
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

/** Packages with headers or sources that the addon is compiled from. */
const PACKAGES = ["node-addon-api", "node-api-headers", "usearch", "zstd-napi"];

/** Where headers are. Not part of the fingerprint, because it differs between machines. */
const includes = [
  "-I",
  sources,
  "-isystem",
  join(modules, "node-addon-api"),
  "-isystem",
  join(modules, "node-api-headers", "include"),
  "-isystem",
  join(vendor, "snowball"),
  "-isystem",
  join(modules, "usearch", "include"),
  "-isystem",
  join(modules, "zstd-napi", "deps", "zstd", "lib"),
];

function linkFlags({ target = HERE, portable }: BuildOptions): string[] {
  if (target.platform === "darwin") return ["-bundle", "-undefined", "dynamic_lookup"];
  return portable ? ["-shared", "-static-libstdc++", "-static-libgcc"] : ["-shared"];
}

/** Debian's cross compilers. Debian has no compiler for macOS. */
const CROSS_COMPILERS: Readonly<Record<string, { command: string; package: string }>> = {
  "linux-arm64": { command: "aarch64-linux-gnu-g++", package: "g++-aarch64-linux-gnu" },
  "linux-x64": { command: "x86_64-linux-gnu-g++", package: "g++-x86-64-linux-gnu" },
};

const isHere = (target: Target): boolean => nameOf(target) === nameOf(HERE);

function compiler(target: Target): string | undefined {
  const candidates = isHere(target)
    ? [process.env.CXX, "g++", "clang++", "c++"]
    : [CROSS_COMPILERS[nameOf(target)]?.command];
  return candidates.find((candidate) => candidate && Bun.which(candidate));
}

/** The error of a missing compiler. `found` describes the defect of the prebuilt addon, if it has one. */
function compilerMissing(target: Target, found?: string): BuildError {
  const cross = isHere(target) ? "g++" : CROSS_COMPILERS[nameOf(target)]?.package;
  const remedy =
    target.platform === "darwin" ? "xcode-select --install" : `apt-get install ${cross}`;
  const detail = found === undefined ? "" : ` (${found})`;
  return new BuildError(`no C++ compiler found${detail}; install one with: ${remedy}`);
}

/** A hash of everything that the addon depends on, the same on all machines. */
function fingerprint(options: BuildOptions): string {
  return hashOf(options, [...sourceFiles(), ...vendoredFiles()]);
}

/** @param files relative to this folder */
function hashOf(options: BuildOptions, files: readonly string[]): string {
  const { target = HERE } = options;
  const hash = new Bun.CryptoHasher("sha256");
  hash.update(JSON.stringify([nameOf(target), STANDARDS, flags(options), linkFlags({ target })]));
  for (const name of ["build.ts", "units.ts"]) hash.update(readFileSync(join(root, name)));
  for (const file of files) {
    hash.update(file);
    hash.update(readFileSync(join(root, file)));
  }
  for (const name of PACKAGES) {
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

/** The temporary path of a file that this process then renames, so that other processes see only complete files. */
const unfinishedPath = (path: string) => `${path}.${process.pid}`;

/** A compiler with its version, because objects of different versions may not fit together. */
interface Compiler {
  readonly cxx: string;
  readonly version: string;
}

/** Compiles a unit, unless its object is there. The name of an object has the hash of all that is in it. */
async function compileUnit(
  unit: Unit,
  { cxx, version }: Compiler,
  options: BuildOptions,
): Promise<string> {
  const extra = unit.extensions.map((extension) => `-m${extension}`);
  const inputs = hashOf(options, sourcesOf(unit));
  const hash = Bun.hash(JSON.stringify([cxx, version, inputs, unit])).toString(16);
  const object = join(objectFolder, `${unit.name}-${hash}.o`);
  if (existsSync(object)) return object;
  const unfinished = unfinishedPath(object);
  const { language = "c++", defines = [] } = unit;
  const compile = [cxx, STANDARDS[language], ...flags(options), ...includes, ...extra];
  const lines = [
    ...defines.map((define) => `#define ${define}\n`),
    ...unit.files.map((file) => `#include "${file}"\n`),
  ];
  const command = [...compile, "-x", language, "-c", "-", "-o", unfinished];
  const { ok, output } = await run(command, lines.join(""));
  if (!ok) {
    const reason = `does not compile with ${cxx} (C++20 is needed)`;
    throw new BuildError(`the unit ${unit.name} ${reason}:\n${output}`);
  }
  renameSync(unfinished, object);
  return object;
}

async function compileAll(cxx: string, options: BuildOptions): Promise<string[]> {
  const used = { cxx, version: Bun.spawnSync([cxx, "--version"]).stdout.toString() };
  const pending = unitsFor((options.target ?? HERE).arch);
  const objects: string[] = [];
  async function worker() {
    for (let unit = pending.shift(); unit; unit = pending.shift()) {
      objects.push(await compileUnit(unit, used, options));
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return objects.sort();
}

/** Removes objects of other sources, and the leftovers of killed builds. */
function removeObjectsExcept(objects: readonly string[]): void {
  const kept = new Set(objects.map((object) => basename(object)));
  for (const name of readdirSync(objectFolder)) {
    const owner = Number(name.slice(name.lastIndexOf(".") + 1));
    if (!kept.has(name) && !isRunning(owner)) rmSync(join(objectFolder, name), { force: true });
  }
}

/**
 * Compiles to a path, in a temporary file that is renamed, so that a concurrent load sees a complete
 * addon. Throws a BuildError.
 */
async function compile(path: string, options: BuildOptions): Promise<void> {
  const { target = HERE } = options;
  const cxx = compiler(target);
  if (cxx === undefined) throw compilerMissing(target);
  mkdirSync(objectFolder, { recursive: true });
  const objects = await compileAll(cxx, options);
  removeObjectsExcept(objects);
  const linked = unfinishedPath(join(objectFolder, basename(path)));
  const sanitize = options.asan ? ["-fsanitize=address,undefined"] : [];
  const link = [cxx, ...linkFlags(options), ...sanitize, ...objects, "-lpthread", "-o", linked];
  const { ok, output } = await run(link);
  if (!ok) throw new BuildError(`the addon does not link with ${cxx}:\n${output}`);
  renameSync(linked, path);
}

/** Compiles the addon of this machine or, without a compiler, takes the prebuilt one. */
async function compileOrTake(options: BuildOptions): Promise<void> {
  const stamp = fingerprint(options);
  if (compiler(HERE) !== undefined || options.asan) {
    await compile(addonPath(options), options);
  } else {
    const taken = takePrebuilt(HERE, stamp, addonPath());
    if (!taken.ok) throw compilerMissing(HERE, taken.reason);
  }
  writeFileSync(stampPath(options), stamp);
}

/** Compiles an addon for a release to a path, and returns the hash of its sources. Throws a BuildError. */
export async function compileForRelease(target: Target, path: string): Promise<string> {
  await alone(() => compile(path, { target, portable: true }));
  return fingerprint({ target });
}

/** Runs work while no other process builds. */
async function alone(work: () => Promise<void>): Promise<void> {
  mkdirSync(output, { recursive: true });
  await locked(join(output, "lock"), work);
}

/**
 * Builds the addon unless it is up to date, or takes the prebuilt one, and returns whether it did. If several processes
 * find it stale at the same time, one builds and the others wait.
 */
export async function build(options: BuildOptions & { force?: boolean } = {}): Promise<boolean> {
  const needed = () => options.force === true || !isFresh(options);
  if (!needed()) return false;
  let built = false;
  await alone(async () => {
    built = needed();
    if (options.force) rmSync(objectFolder, { recursive: true, force: true });
    if (built) await compileOrTake(options);
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

/**
 * Compiles the native search core: `bun native/build.ts [--asan] [--force]`. Nothing happens when the
 * artefact was built from the sources as they are.
 *
 * It calls the C++ compiler directly. The artefact runs on any processor of its architecture: files
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
import { join } from "node:path";
import { isRunning, locked } from "./lock.ts";

const root = import.meta.dir;
const sources = join(root, "src");
const output = join(root, "build");
const modules = join(root, "..", "node_modules");

/** A build that failed; the message is one line that names the remedy. */
export class BuildError extends Error {
  override readonly name = "BuildError";
}

export interface BuildOptions {
  /** Instrument with AddressSanitizer and UndefinedBehaviorSanitizer. */
  asan?: boolean;
}

/** Source files that one compiler process takes together. */
interface Unit {
  name: string;
  files: readonly string[];
  /** Only for this architecture. */
  arch?: NodeJS.Architecture;
  /** Extensions of the architecture that the processor must have. */
  extensions?: readonly string[];
}

const AVX2 = ["avx2", "fma", "popcnt", "bmi"];
const AVX512 = [...AVX2, "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vpopcntdq"];

/**
 * Most of the time goes into the headers, so files that share them are compiled together; the units
 * take about as long as each other, the slowest first.
 */
const units: readonly Unit[] = [
  {
    name: "search",
    files: [
      ...["graph", "candidates", "codebook", "sketch", "calibrate", "search", "rotation"],
      ...["kernels", "body", "json_skip", "number", "base64", "render", "hits"],
    ],
  },
  {
    name: "calls",
    files: ["arguments", "binding", "calls_kernels", "calls_manage", "calls_search"],
  },
  {
    name: "storage",
    files: [
      ...["files", "snapshot", "snapshot_codec", "snapshot_io", "project", "index", "bitmap"],
      ...["arena", "column", "slab", "checksum", "thread"],
    ],
  },
  { name: "kernels_avx512", files: ["kernels_avx512"], arch: "x64", extensions: AVX512 },
  { name: "kernels_avx2", files: ["kernels_avx2"], arch: "x64", extensions: AVX2 },
  { name: "kernels_neon", files: ["kernels_neon"], arch: "arm64" },
  { name: "kernels_portable", files: ["kernels_portable"] },
];

/** A C++ condition that the processor has all of the extensions. */
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

/** The units for this architecture. A source file that no unit names is an error, not a surprise. */
function unitsHere(): Unit[] {
  const named = new Set(units.flatMap(({ files }) => files));
  const files = readdirSync(sources).filter((name) => name.endsWith(".cc"));
  const orphan = files.find((name) => !named.has(name.slice(0, -".cc".length)));
  if (orphan) throw new BuildError(`native/build.ts names no unit for ${orphan}`);
  return units.filter(({ arch }) => arch === undefined || arch === process.arch);
}

/** Names everything that the artefact depends on, so that a change of any of it is noticed. */
function fingerprint(options: BuildOptions): string {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([process.platform, process.arch, flags(options), linkFlags]));
  hash.update(readFileSync(import.meta.path));
  for (const name of readdirSync(sources).sort()) {
    hash.update(name);
    hash.update(readFileSync(join(sources, name)));
  }
  for (const name of ["node-addon-api", "node-api-headers"]) {
    hash.update(readFileSync(join(modules, name, "package.json")));
  }
  return hash.digest("hex");
}

/** Where the artefact lies once it is built. */
export function artefactPath(options: BuildOptions = {}): string {
  return join(output, options.asan ? "tessera-asan.node" : "tessera.node");
}

const stampPath = (options: BuildOptions) => `${artefactPath(options)}.stamp`;

/** True when the artefact is there and was built from the sources as they are. */
export function isFresh(options: BuildOptions = {}): boolean {
  if (!existsSync(artefactPath(options)) || !existsSync(stampPath(options))) return false;
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
      const extra = (unit.extensions ?? []).map((extension) => `-m${extension}`);
      const command = [cxx, ...flags(options), ...extra, "-x", "c++", "-c", "-", "-o", object];
      const text = unit.files.map((file) => `#include "${file}.cc"\n`).join("");
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

/** Removes the folders of builds that were killed. */
function cleanLeftovers(): void {
  for (const name of readdirSync(output)) {
    if (!name.startsWith(OBJECTS) || isRunning(Number(name.slice(OBJECTS.length)))) continue;
    rmSync(join(output, name), { recursive: true, force: true });
  }
}

/** Compiles aside and renames: who loads the artefact meanwhile sees the old one or the new one. */
async function compile(options: BuildOptions): Promise<void> {
  const cxx = compiler();
  const stamp = fingerprint(options);
  const folder = join(output, `${OBJECTS}${process.pid}`);
  cleanLeftovers();
  mkdirSync(folder, { recursive: true });
  try {
    const objects = await compileAll(cxx, folder, options);
    const aside = join(folder, "addon.node");
    const sanitize = options.asan ? ["-fsanitize=address,undefined"] : [];
    const link = [cxx, ...linkFlags, ...sanitize, ...objects, "-lpthread", "-o", aside];
    const { ok, output } = await run(link);
    if (!ok) throw new BuildError(`the addon does not link with ${cxx}:\n${output}`);
    renameSync(aside, artefactPath(options));
    writeFileSync(stampPath(options), stamp);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Builds the addon unless it is fresh, and tells whether it did. Processes that find stale sources
 * at once wait for the first of them.
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
    if (built) console.log(`built ${artefactPath(options)} in ${seconds} s`);
  } catch (error) {
    console.error(error instanceof BuildError ? error.message : error);
    process.exit(1);
  }
}

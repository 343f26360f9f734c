/**
 * Compiles the native search core: `bun native/build.ts [--asan] [--if-stale]`.
 *
 * It calls the C++ compiler directly, one process a source file and as many at once as there are
 * cores. The artefact runs on any processor of its architecture: files named for an instruction set
 * are compiled for it, and the code picks among them at run time.
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

const root = import.meta.dir;
const sources = join(root, "src");
const modules = join(root, "..", "node_modules");

/** A build that failed; the message is one line that names the remedy. */
export class BuildError extends Error {
  override readonly name = "BuildError";
}

export interface BuildOptions {
  /** Instrument with AddressSanitizer and UndefinedBehaviorSanitizer. */
  asan?: boolean;
}

/** Extra compiler flags for the files that are written for one instruction set. */
const instructionSets: Record<string, { arch: NodeJS.Architecture; flags: string[] }> = {
  kernels_avx2: { arch: "x64", flags: ["-mavx2", "-mfma", "-mpopcnt", "-mbmi"] },
  kernels_avx512: {
    arch: "x64",
    flags: [
      "-mavx2",
      "-mfma",
      "-mpopcnt",
      "-mbmi",
      "-mavx512f",
      "-mavx512bw",
      "-mavx512dq",
      "-mavx512vl",
      "-mavx512vpopcntdq",
    ],
  },
  kernels_neon: { arch: "arm64", flags: [] },
};

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

function sourceFiles(): string[] {
  return readdirSync(sources)
    .filter((name) => name.endsWith(".cc"))
    .filter((name) => (instructionSets[name.slice(0, -3)]?.arch ?? process.arch) === process.arch)
    .sort();
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
  return join(root, "build", options.asan ? "tessera-asan.node" : "tessera.node");
}

const stampPath = (options: BuildOptions) => `${artefactPath(options)}.stamp`;

/** True when the artefact is there and was built from the sources as they are. */
export function isFresh(options: BuildOptions = {}): boolean {
  if (!existsSync(artefactPath(options)) || !existsSync(stampPath(options))) return false;
  return readFileSync(stampPath(options), "utf8") === fingerprint(options);
}

function run(command: string[]): Promise<{ ok: boolean; output: string }> {
  const child = Bun.spawn(command, { stdout: "ignore", stderr: "pipe" });
  return Promise.all([child.exited, new Response(child.stderr).text()]).then(([code, output]) => ({
    ok: code === 0,
    output,
  }));
}

async function compileAll(cxx: string, folder: string, options: BuildOptions): Promise<string[]> {
  const pending = sourceFiles();
  const objects: string[] = [];
  async function worker() {
    for (let name = pending.shift(); name; name = pending.shift()) {
      const object = join(folder, name.replace(/\.cc$/, ".o"));
      const extra = instructionSets[name.slice(0, -3)]?.flags ?? [];
      const command = [cxx, ...flags(options), ...extra, "-c", join(sources, name), "-o", object];
      const { ok, output } = await run(command);
      if (!ok)
        throw new BuildError(`${name} does not compile with ${cxx} (C++20 is needed):\n${output}`);
      objects.push(object);
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return objects.sort();
}

/**
 * Builds the addon and returns the path of the artefact. It is written aside and renamed, so that a
 * process that loads it meanwhile sees the old one or the new one.
 */
export async function build(options: BuildOptions = {}): Promise<string> {
  const cxx = compiler();
  const stamp = fingerprint(options);
  const target = artefactPath(options);
  const folder = join(root, "build", `objects-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const objects = await compileAll(cxx, folder, options);
    const aside = join(folder, "addon.node");
    const sanitize = options.asan ? ["-fsanitize=address,undefined"] : [];
    const { ok, output } = await run([
      cxx,
      ...linkFlags,
      ...sanitize,
      ...objects,
      "-lpthread",
      "-o",
      aside,
    ]);
    if (!ok) throw new BuildError(`the addon does not link with ${cxx}:\n${output}`);
    renameSync(aside, target);
    writeFileSync(stampPath(options), stamp);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return target;
}

if (import.meta.main) {
  const options = { asan: process.argv.includes("--asan") };
  try {
    if (process.argv.includes("--if-stale") && isFresh(options)) process.exit(0);
    const started = performance.now();
    const path = await build(options);
    console.log(`built ${path} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  } catch (error) {
    console.error(error instanceof BuildError ? error.message : error);
    process.exit(1);
  }
}

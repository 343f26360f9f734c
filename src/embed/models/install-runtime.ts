import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { syncTree } from "../../ops/durable-files.ts";
import { ModelError } from "./model-error.ts";
import { findRuntime, runtimeDestination } from "./runtime.ts";

/** The package with its lock, by which every installation has the same files. */
const SOURCE = join(import.meta.dir, "runtime");
const BINARIES = "node_modules/onnxruntime-node/bin/napi-v6";
/** Maximum characters of a failed installation's output in the message. */
const OUTPUT_CHARS = 500;

/**
 * Installs the runtime from the package registry, unless it is there, and returns its folder. Its install script,
 * which would fetch libraries for graphics cards from elsewhere, is not run, and the binaries of other systems are
 * removed. Throws a ModelError.
 */
export async function installRuntime(dataDir: string): Promise<string> {
  const found = findRuntime(dataDir);
  if (found !== undefined) return found;
  const folder = runtimeDestination(dataDir);
  const temporary = `${folder}.${process.pid}`;
  try {
    mkdirSync(temporary, { recursive: true });
    for (const name of ["package.json", "bun.lock"]) {
      cpSync(join(SOURCE, name), join(temporary, name));
    }
    await runInstall(temporary);
    removeOtherSystems(temporary);
    syncTree(temporary);
    // Another command may have been faster.
    if (!existsSync(folder)) renameSync(temporary, folder);
    return folder;
  } catch (error) {
    if (error instanceof ModelError) throw error;
    throw new ModelError(`the runtime cannot be installed: ${(error as Error).message}`);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function runInstall(folder: string): Promise<void> {
  // A separate cache, so that the 300 MB of the download do not stay in the user's cache.
  const cache = join(folder, "download");
  const options = ["--frozen-lockfile", "--production", "--ignore-scripts", "--no-progress"];
  const program = Bun.spawn(
    [process.execPath, "install", ...options, "--backend=hardlink", `--cache-dir=${cache}`],
    { cwd: folder, stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  const output = await program.stderr.text();
  if ((await program.exited) !== 0) {
    throw new ModelError(
      `the runtime cannot be installed: check the network or the proxy (${output.trim().slice(-OUTPUT_CHARS)})`,
    );
  }
  rmSync(cache, { recursive: true, force: true });
}

function removeOtherSystems(folder: string): void {
  const own = join(folder, BINARIES, process.platform, process.arch);
  if (!existsSync(own)) {
    throw new ModelError(`the runtime has no build for ${process.platform}-${process.arch}`);
  }
  for (const platform of readdirSync(join(folder, BINARIES))) {
    for (const architecture of readdirSync(join(folder, BINARIES, platform))) {
      const path = join(folder, BINARIES, platform, architecture);
      if (path !== own) rmSync(path, { recursive: true });
    }
  }
}

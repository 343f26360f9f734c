import { cpSync, existsSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRequired } from "../programs.ts";
import { PROJECT_ROOT } from "./process.ts";

/** The commit of the last release. */
const COMMIT = "942b3f6a1ea05644c60558f83484e3dd8fd43612";
/** What a process of it runs. */
const PARTS = ["native", "src", "workers", "scripts", "support", "package.json"];

const git = (...args: string[]) => Bun.spawnSync(["git", ...args], { cwd: PROJECT_ROOT });

/**
 * Whether the last release cannot be run, for tests that are skipped then. The reason goes to standard error. In
 * continuous integration they run, and fail.
 */
export function lacksLastRelease(): boolean {
  if (isRequired() || git("cat-file", "-e", `${COMMIT}^{commit}`).success) return false;
  process.stderr.write(
    `tests are skipped because the commit ${COMMIT} of the last release is missing (git fetch --unshallow)\n`,
  );
  return true;
}

/**
 * The folder of the last release, with the dependencies of this version. It is kept in .cache, because its native
 * core takes a minute of processor time to compile where the sources have changed since.
 */
export function lastRelease(): string {
  const folder = join(PROJECT_ROOT, ".cache", "releases", COMMIT);
  if (!existsSync(folder)) extract(folder);
  // Does nothing if this version has the same sources, or the build is there.
  const built = Bun.spawnSync([process.execPath, "native/build.ts"], { cwd: folder });
  if (!built.success) throw new Error(`the last release does not build: ${built.stderr}`);
  return folder;
}

function extract(folder: string): void {
  const partial = `${folder}.partial-${process.pid}`;
  mkdirSync(partial, { recursive: true });
  const archive = git("archive", "--format=tar", COMMIT, ...PARTS);
  const unpacked = Bun.spawnSync(["tar", "-x", "-C", partial], { stdin: archive.stdout });
  if (!archive.success || !unpacked.success) {
    throw new Error(`the last release cannot be extracted: ${archive.stderr}${unpacked.stderr}`);
  }
  symlinkSync(join(PROJECT_ROOT, "node_modules"), join(partial, "node_modules"));
  mkdirSync(join(partial, "native", "build"), { recursive: true });
  for (const name of ["tessera.node", "tessera.node.stamp"]) {
    const from = join(PROJECT_ROOT, "native", "build", name);
    if (existsSync(from)) cpSync(from, join(partial, "native", "build", name));
  }
  mkdirSync(dirname(folder), { recursive: true });
  renameSync(partial, folder);
}

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { accountForNewCluster, canUse } from "../../../src/db/embedded/account.ts";
import { temporaryFolder } from "../../../support/folders.ts";

/** The variable with the folder of the source archives of pgvector and Citus. */
export const SOURCES_VARIABLE = "TESSERA_ENGINES";

const DEBIAN = "/usr/lib/postgresql";
const ROOT = join(import.meta.dir, "../../..");

/** A PostgreSQL with extensions. */
export interface Engines {
  /** The folder of its programs. */
  readonly bin: string;
  readonly major: number;
  readonly extensions: ReadonlySet<string>;
  /** Where they come from, for the output of a run. */
  readonly origin: string;
}

/** The extensions of a PostgreSQL by its shared folder. */
function extensionsIn(share: string): Set<string> {
  const folder = join(share, "extension");
  const names = ["vector", "citus"];
  return new Set(names.filter((name) => existsSync(join(folder, `${name}.control`))));
}

const extensionsOf = (prefix: string, major: number) =>
  extensionsIn(join(prefix, "share/postgresql", String(major)));

const binOf = (prefix: string, major: number) => join(prefix, "lib/postgresql", `${major}`, "bin");

/** Majors of Debian's packages, the newest first. */
function installedMajors(): number[] {
  const names = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const majors = names
    .map(Number)
    .filter((major) => existsSync(join(binOf("/usr", major), "initdb")));
  return majors.sort((a, b) => b - a);
}

async function run(command: readonly string[], cwd: string): Promise<void> {
  const program = Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [status, output, errors] = await Promise.all([
    program.exited,
    program.stdout.text(),
    program.stderr.text(),
  ]);
  if (status === 0) return;
  throw new Error(`${command.join(" ")} failed:\n${output.slice(-1_000)}${errors.slice(-2_000)}`);
}

/** The folder with the sources in an archive. */
async function unpack(archive: string, name: string): Promise<string> {
  const folder = temporaryFolder(name);
  await run(["tar", "-xf", archive, "-C", folder], folder);
  const [first] = readdirSync(folder);
  return existsSync(join(folder, "Makefile")) || existsSync(join(folder, "configure"))
    ? folder
    : join(folder, first as string);
}

async function build(sources: string, archive: string, major: number, target: string) {
  const config = `PG_CONFIG=${join(binOf("/usr", major), "pg_config")}`;
  const folder = await unpack(join(sources, archive), archive.split("-")[0] as string);
  const make = (...goals: string[]) => run(["make", "with_llvm=no", config, ...goals], folder);
  if (archive.startsWith("pgvector")) {
    // Without tuning for this machine's processor, so that a cache may be copied to another one.
    await make("-j2", "OPTFLAGS=");
    return await make("install", `DESTDIR=${target}`);
  }
  await run(["./configure", "--without-libcurl", config], folder);
  await make("-j2", "extension");
  await make("install-extension", `DESTDIR=${target}`);
}

/**
 * Builds the extensions of a folder of source archives (`pgvector-*.tar.*`, `citus-*.tar.*`) into a copy
 * of the installed PostgreSQL. PostgreSQL finds its files relative to its programs, so the copy uses the
 * extensions, and the installed one stays as it is.
 */
async function buildFrom(sources: string, major: number): Promise<string> {
  const archives = readdirSync(sources).filter((name) => /^(pgvector|citus)-.*\.tar\./.test(name));
  if (archives.length === 0) throw new Error(`${sources} has no archive of pgvector or citus`);
  const key = Bun.hash(`${major} ${archives.sort().join(" ")}`).toString(36);
  const cache = join(ROOT, ".cache/engines", key);
  if (existsSync(cache)) return join(cache, "usr");
  process.stdout.write(`building ${archives.join(" and ")} for PostgreSQL ${major}\n`);
  const unfinished = `${cache}.${process.pid}`;
  for (const part of ["lib/postgresql", "share/postgresql"]) {
    const into = join(unfinished, "usr", part);
    mkdirSync(into, { recursive: true });
    await run(["cp", "-RL", join("/usr", part, `${major}`), into], ROOT);
  }
  for (const archive of archives) await build(sources, archive, major, unfinished);
  mkdirSync(dirname(cache), { recursive: true });
  renameSync(unfinished, cache);
  return join(cache, "usr");
}

/** PostgreSQL runs under another account than root, which may be unable to enter the cache. */
async function reachable(prefix: string): Promise<string> {
  if (canUse(accountForNewCluster(), "-x", prefix)) return prefix;
  const copy = temporaryFolder("engines");
  await run(["cp", "-R", prefix, copy], ROOT);
  return join(copy, basename(prefix));
}

/** The PostgreSQL of a folder with `bin`, `lib` and `share`, in which pgvector is installed. */
export async function engineIn(folder: string): Promise<Engines> {
  if (!existsSync(join(folder, "bin/postgres"))) {
    throw new Error(`${folder} has no bin/postgres: --postgres names the folder above it`);
  }
  const prefix = await reachable(folder);
  const bin = join(prefix, "bin");
  const version = await Bun.$`${join(bin, "postgres")} --version`.text();
  const extensions = extensionsIn(join(prefix, "share/postgresql"));
  if (!extensions.has("vector")) {
    throw new Error(`${folder} has no share/postgresql/extension/vector.control: install pgvector`);
  }
  return { bin, major: Number(version.match(/\d+/)?.[0]), extensions, origin: `in ${folder}` };
}

/** A PostgreSQL with pgvector: built from `sources`, or else the one that is installed. */
export async function findEngines(sources: string | undefined): Promise<Engines> {
  const majors = installedMajors();
  if (sources !== undefined) {
    const [major] = majors.filter((each) => existsSync(join(binOf("/usr", each), "pg_config")));
    if (major === undefined) {
      throw new Error(
        "building needs PostgreSQL: apt-get install postgresql postgresql-server-dev-all",
      );
    }
    const prefix = await reachable(await buildFrom(sources, major));
    const extensions = extensionsOf(prefix, major);
    return { bin: binOf(prefix, major), major, extensions, origin: `built from ${sources}` };
  }
  for (const major of majors) {
    const extensions = extensionsOf("/usr", major);
    if (extensions.has("vector")) {
      return { bin: binOf("/usr", major), major, extensions, origin: "installed" };
    }
  }
  throw new Error(
    "the tests of the engine need pgvector: install it (Debian: apt-get install postgresql-15-pgvector), or name a folder with source archives: npm run test:engine -- --sources DIR",
  );
}

/** Whether there is a PostgreSQL with pgvector, or what it is built from. */
export const hasEngines = (): boolean =>
  process.env[SOURCES_VARIABLE] !== undefined ||
  installedMajors().some((major) => extensionsOf("/usr", major).has("vector"));

/** Removes what a failed build has left. */
export function removeUnfinished(): void {
  const folder = join(ROOT, ".cache/engines");
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (name.includes(".")) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

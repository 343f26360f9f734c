import { randomBytes } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { syncNames, writeDurablySync } from "../../shared/durable-files.ts";
import { isRoot } from "./account.ts";
import type { Binaries } from "./binaries.ts";
import { EmbeddedDatabaseError, explainFileError } from "./failure.ts";
import type { ClusterLocation } from "./location.ts";
import { runProgram } from "./programs.ts";

const EMBEDDED_PASSWORD_BYTES = 24;

/** The superuser of an embedded cluster. */
export const DATABASE_USER = "tessera";

const PARTIAL_PREFIX = "cluster.partial-";

/**
 * Creates the cluster unless it exists, and returns whether it did. `durable: false` does not sync
 * the new files to disk, which suits clusters of tests.
 */
export async function ensureCluster(
  location: ClusterLocation,
  binaries: Binaries,
  durable: boolean,
): Promise<boolean> {
  if (existsSync(location.cluster)) {
    checkVersion(location, binaries);
    return false;
  }
  try {
    removePartialClusters(location);
    // A cluster gets its final name when it is complete and on the disk, so neither a crash nor a power cut leaves
    // anything to repair. Nothing is acknowledged before that name is on the disk, too.
    const partial = join(location.home, PARTIAL_PREFIX + randomBytes(4).toString("hex"));
    mkdirSync(partial, { mode: 0o700 });
    chownToAccount(location, partial);
    await runInitdb(location, binaries, partial, durable);
    renameSync(partial, location.cluster);
    syncNames(location.cluster);
    return true;
  } catch (error) {
    throw explainFileError(location.home, error);
  }
}

/** Gives a file to the account that runs PostgreSQL. Does nothing unless this process is root. */
export function chownToAccount(location: ClusterLocation, file: string): void {
  if (isRoot()) chownSync(file, location.account.uid, location.account.gid);
}

async function runInitdb(
  location: ClusterLocation,
  binaries: Binaries,
  folder: string,
  durable: boolean,
): Promise<void> {
  writeDurablySync(location.password, randomBytes(EMBEDDED_PASSWORD_BYTES).toString("base64url"));
  chownToAccount(location, location.password);
  await runProgram(
    location,
    [
      binaries.initdb,
      `--pgdata=${folder}`,
      `--username=${DATABASE_USER}`,
      `--pwfile=${location.password}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // Text sorts by bytes, so that its order is the same on every machine.
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
      ...(durable ? [] : ["--no-sync"]),
    ],
    "create its data folder",
  );
}

function removePartialClusters(location: ClusterLocation): void {
  for (const name of readdirSync(location.home)) {
    if (name.startsWith(PARTIAL_PREFIX)) {
      rmSync(join(location.home, name), { recursive: true, force: true });
    }
  }
}

function checkVersion(location: ClusterLocation, binaries: Binaries): void {
  const file = join(location.cluster, "PG_VERSION");
  const version = existsSync(file) ? readFileSync(file, "utf8").trim() : "an unknown version";
  if (version === binaries.major) return;
  throw new EmbeddedDatabaseError(
    `the data in ${location.cluster} is of PostgreSQL ${version}, but this program contains ${binaries.major}: dump it with the old version, move the folder away and import, or set DATABASE_URL`,
  );
}

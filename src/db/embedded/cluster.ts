import { randomBytes } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { EMBEDDED_PASSWORD_BYTES } from "../../shared/limits.ts";
import { isRoot } from "./account.ts";
import type { Binaries } from "./binaries.ts";
import { EmbeddedDatabaseError, explainFileError } from "./failure.ts";
import type { Place } from "./place.ts";
import { runProgram } from "./programs.ts";

/** The superuser of an embedded cluster. */
export const DATABASE_USER = "tessera";

const PARTIAL_PREFIX = "cluster.partial-";

/**
 * Creates the cluster unless it exists, and tells whether it did. `durable: false` leaves the new
 * files to the system's cache, which suits clusters that end with their test.
 */
export async function ensureCluster(
  place: Place,
  binaries: Binaries,
  durable: boolean,
): Promise<boolean> {
  if (existsSync(place.cluster)) {
    checkVersion(place, binaries);
    return false;
  }
  try {
    removePartialClusters(place);
    // A cluster gets its final name only when it is whole: a crash leaves nothing to repair.
    const partial = join(place.home, PARTIAL_PREFIX + randomBytes(4).toString("hex"));
    mkdirSync(partial, { mode: 0o700 });
    giveToAccount(place, partial);
    await runInitdb(place, binaries, partial, durable);
    renameSync(partial, place.cluster);
    return true;
  } catch (error) {
    throw explainFileError(place.home, error);
  }
}

/** Hands a file to the account that runs PostgreSQL; nothing to do unless this process is root. */
export function giveToAccount(place: Place, file: string): void {
  if (isRoot()) chownSync(file, place.account.uid, place.account.gid);
}

async function runInitdb(
  place: Place,
  binaries: Binaries,
  folder: string,
  durable: boolean,
): Promise<void> {
  writeFileSync(place.password, randomBytes(EMBEDDED_PASSWORD_BYTES).toString("base64url"), {
    mode: 0o600,
  });
  giveToAccount(place, place.password);
  await runProgram(
    place,
    [
      binaries.initdb,
      `--pgdata=${folder}`,
      `--username=${DATABASE_USER}`,
      `--pwfile=${place.password}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // Bytes decide the order of text, so that it is the same on every machine.
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
      ...(durable ? [] : ["--no-sync"]),
    ],
    "create its data folder",
  );
}

function removePartialClusters(place: Place): void {
  for (const name of readdirSync(place.home)) {
    if (name.startsWith(PARTIAL_PREFIX)) {
      rmSync(join(place.home, name), { recursive: true, force: true });
    }
  }
}

function checkVersion(place: Place, binaries: Binaries): void {
  const file = join(place.cluster, "PG_VERSION");
  const version = existsSync(file) ? readFileSync(file, "utf8").trim() : "an unknown version";
  if (version === binaries.major) return;
  throw new EmbeddedDatabaseError(
    `the data in ${place.cluster} is of PostgreSQL ${version}, this program brings ${binaries.major}: dump it with the old version, move the folder away and import, or set DATABASE_URL`,
  );
}

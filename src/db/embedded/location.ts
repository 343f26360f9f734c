import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Account, accountForNewCluster, canUse, isRoot } from "./account.ts";
import { EmbeddedDatabaseError, explainFileError } from "./failure.ts";

/** The address of a Unix socket holds 107 bytes on Linux and 103 on macOS, of which its name takes these. */
const SOCKET_FOLDER_MAX_BYTES = 103 - "/.s.PGSQL.65535".length;
/** PostgreSQL's programs get the open home as the first file behind the standard ones. */
const INHERITED_HOME = "/proc/self/fd/3";

/** The files of one embedded PostgreSQL. */
export type ClusterLocation = {
  readonly account: Account;
  /** PostgreSQL's data folder, which exists once the cluster has been created. */
  readonly cluster: string;
  /** The same folder for the address of its socket, which has to be short. */
  readonly socketFolder: string;
  /** The parent of that folder, below the data folder. */
  readonly home: string;
  /** The same folder for PostgreSQL's programs, whose account may be unable to enter those above it. */
  readonly programsHome: string;
  readonly log: string;
  readonly password: string;
};

/** Finds the cluster of a data folder, and creates the folders above it. */
export function locateCluster(dataDir: string): ClusterLocation {
  try {
    mkdirSync(dataDir, { recursive: true });
    return describe(join(realpathSync(resolve(dataDir)), "postgres"));
  } catch (error) {
    throw explainFileError(resolve(dataDir), error);
  }
}

/** True if a cluster has been created for this data folder. Creates nothing. */
export function hasCluster(dataDir: string): boolean {
  return existsSync(join(dataDir, "postgres", "cluster"));
}

function describe(home: string): ClusterLocation {
  if (!existsSync(home)) {
    mkdirSync(home, { recursive: true });
    // The other account passes through it. The umask does not affect chmod.
    chmodSync(home, isRoot() ? 0o711 : 0o700);
  }
  const cluster = join(home, "cluster");
  const account = accountOf(cluster);
  const isShort = Buffer.byteLength(cluster) <= SOCKET_FOLDER_MAX_BYTES;
  if (!isShort && process.platform !== "linux") {
    throw new EmbeddedDatabaseError(
      `the path ${cluster} is too long for a Unix socket: set a shorter DATA_DIR`,
    );
  }
  return {
    account,
    home,
    cluster,
    socketFolder: isShort ? cluster : `/proc/self/fd/${openSync(home, "r")}/cluster`,
    programsHome: canUse(account, "-x", home) ? home : INHERITED_HOME,
    log: join(home, "postgres.log"),
    password: join(home, "password"),
  };
}

/** An existing cluster is run by its owner, which root can become but other users cannot. */
function accountOf(cluster: string): Account {
  if (!existsSync(cluster)) return accountForNewCluster();
  const { uid, gid } = statSync(cluster);
  // PostgreSQL cannot run a cluster that root owns, which happens when root copies one.
  if (uid === 0) {
    throw new EmbeddedDatabaseError(
      `the PostgreSQL data in ${cluster} belongs to root, which PostgreSQL refuses: chown it to an ordinary user`,
    );
  }
  if (!isRoot() && uid !== process.getuid?.()) {
    throw new EmbeddedDatabaseError(
      `the PostgreSQL data in ${dirname(cluster)} belongs to another user (uid ${uid}): run as that user, or set another DATA_DIR`,
    );
  }
  return { uid, gid };
}

/** The file's text; undefined without a file. */
export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

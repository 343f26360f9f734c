import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { syncNames, writeDurablySync } from "../../shared/durable-files.ts";
import { type Account, accountForNewCluster, canReach, isRoot, ownAccount } from "./account.ts";
import { EmbeddedDatabaseError, explainFileError } from "./failure.ts";
import { isSameFolder, readIfPresent } from "./processes.ts";

/** Where root stores the files of another account that cannot enter the data folder. */
export const SHARED_FOLDER = "/var/lib/tessera";

/** Names that folder, below the data folder. */
const LOCATION_FILE = "postgres-location";

/** In a folder outside the data folder, names the data folder that it belongs to. */
const OWNER_FILE = "data-folder";

/** The files of one embedded PostgreSQL. */
export type ClusterLocation = {
  readonly account: Account;
  /** PostgreSQL's data folder, which exists once the cluster has been created. */
  readonly cluster: string;
  /** The parent of that folder. */
  readonly home: string;
  readonly log: string;
  readonly password: string;
  /** The process that holds its lock owns the server. */
  readonly lock: string;
  /** Names the folder of the socket, if that is not the cluster. */
  readonly socketFolder: string;
};

/**
 * Finds or chooses the location of a data folder's cluster: `<dataDir>/postgres`, or a folder below
 * /var/lib/tessera when root's data folder cannot be entered by the account that runs PostgreSQL.
 * `<dataDir>/postgres-location` then contains its path.
 */
export function locateCluster(dataDir: string): ClusterLocation {
  const folder = resolve(dataDir);
  try {
    mkdirSync(folder, { recursive: true });
    return locationIn(realpathSync(folder));
  } catch (error) {
    throw explainFileError(folder, error);
  }
}

/** True if a cluster has been created for this data folder. Creates nothing. */
export function hasCluster(dataDir: string): boolean {
  return (
    existsSync(join(dataDir, LOCATION_FILE)) || existsSync(join(dataDir, "postgres", "cluster"))
  );
}

function locationIn(dataDir: string): ClusterLocation {
  const pointer = join(dataDir, LOCATION_FILE);
  const inside = join(dataDir, "postgres");
  if (existsSync(pointer)) return describe(homeOf(dataDir));
  if (existsSync(join(inside, "cluster"))) return describe(inside);
  const account = accountForNewCluster();
  if (canReach(account, inside) || !isRoot()) return prepare(inside, account);
  const outside = join(SHARED_FOLDER, randomBytes(8).toString("hex"));
  const location = prepare(outside, account);
  writeDurablySync(join(outside, OWNER_FILE), `${dataDir}\n`);
  writeDurablySync(pointer, `${outside}\n`);
  syncNames(pointer);
  return location;
}

/**
 * The folder outside the data folder that has its cluster. A copy of a data folder names the folder of the original,
 * and is refused, because its service would use the database of another one.
 */
function homeOf(dataDir: string): string {
  const home = readHome(dataDir);
  const owner = readIfPresent(join(home, OWNER_FILE))?.trim();
  if (owner === undefined || !isSameFolder(owner, dataDir)) {
    if (owner !== undefined && readHome(owner) === home) {
      throw new EmbeddedDatabaseError(
        `${dataDir} is a copy of ${owner}, whose PostgreSQL data is in ${home}: copy that folder, too, and name its copy in ${join(dataDir, LOCATION_FILE)}, or set another DATA_DIR`,
      );
    }
    // The data folder was moved here.
    writeDurablySync(join(home, OWNER_FILE), `${dataDir}\n`);
  }
  return home;
}

function readHome(dataDir: string): string {
  return readIfPresent(join(dataDir, LOCATION_FILE))?.trim() ?? "";
}

function prepare(home: string, account: Account): ClusterLocation {
  makeFolder(dirname(home));
  makeFolder(home);
  return describe(home, account);
}

/** Creates a folder that the other account can pass through. The umask does not affect chmod. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, isRoot() ? 0o711 : 0o700);
}

/** An existing cluster is run by its owner, which root can become but other users cannot. */
function describe(
  home: string,
  account: Account = ownerOf(join(home, "cluster")),
): ClusterLocation {
  if (!isRoot() && account.uid !== ownAccount().uid) {
    throw new EmbeddedDatabaseError(
      `the PostgreSQL data in ${home} belongs to another user (uid ${account.uid}): run as that user, or set another DATA_DIR`,
    );
  }
  return {
    account,
    home,
    cluster: join(home, "cluster"),
    log: join(home, "postgres.log"),
    password: join(home, "password"),
    lock: join(home, "lock"),
    socketFolder: join(home, "socket-folder"),
  };
}

function ownerOf(cluster: string): Account {
  if (!existsSync(cluster)) return accountForNewCluster();
  const { uid, gid } = statSync(cluster);
  // PostgreSQL cannot run a cluster that root owns, which happens when root copies one.
  if (uid === 0) {
    throw new EmbeddedDatabaseError(
      `the PostgreSQL data in ${cluster} belongs to root, which PostgreSQL refuses: chown it to an ordinary user`,
    );
  }
  return { uid, gid };
}

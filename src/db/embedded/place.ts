import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Account, accountForNewCluster, canReach, isRoot, ownAccount } from "./account.ts";
import { EmbeddedDatabaseError, explainFileError } from "./failure.ts";

/** Where root keeps what an unprivileged account must reach, when the data folder is private. */
export const SHARED_FOLDER = "/var/lib/tessera";

/** The files of one embedded PostgreSQL. */
export type Place = {
  readonly account: Account;
  /** PostgreSQL's own data folder; exists once the cluster has been created. */
  readonly cluster: string;
  /** The folder around it. */
  readonly home: string;
  readonly log: string;
  readonly password: string;
  readonly port: string;
  readonly users: string;
};

/**
 * Decides where the cluster of a data folder lives: in `<dataDir>/postgres`, or, when root's data
 * folder cannot be entered by the account that runs PostgreSQL, below /var/lib/tessera. In that
 * case `<dataDir>/postgres-location` tells where, so the two move and disappear together.
 */
export function findPlace(dataDir: string): Place {
  const folder = resolve(dataDir);
  try {
    mkdirSync(folder, { recursive: true });
    return placeIn(realpathSync(folder));
  } catch (error) {
    throw explainFileError(folder, error);
  }
}

function placeIn(dataDir: string): Place {
  const pointer = join(dataDir, "postgres-location");
  const inside = join(dataDir, "postgres");
  if (existsSync(pointer)) return describe(readFileSync(pointer, "utf8").trim());
  if (existsSync(join(inside, "cluster"))) return describe(inside);
  const account = accountForNewCluster();
  if (canReach(account, inside) || !isRoot()) return prepare(inside, account);
  const outside = join(SHARED_FOLDER, randomBytes(8).toString("hex"));
  const place = prepare(outside, account);
  writeFileSync(pointer, `${outside}\n`);
  return place;
}

function prepare(home: string, account: Account): Place {
  makeFolder(dirname(home));
  makeFolder(home);
  return describe(home, account);
}

/** As root the other account passes through the folder; chmod, because a umask may hide it. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, isRoot() ? 0o711 : 0o700);
}

/** An existing cluster is run by its owner: root can be anybody, others only themselves. */
function describe(home: string, account: Account = ownerOf(join(home, "cluster"))): Place {
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
    port: join(home, "port"),
    users: join(home, "users.sqlite"),
  };
}

function ownerOf(cluster: string): Account {
  if (!existsSync(cluster)) return accountForNewCluster();
  const { uid, gid } = statSync(cluster);
  // A cluster that root owns cannot run at all: somebody copied it as root.
  if (uid === 0) {
    throw new EmbeddedDatabaseError(
      `the PostgreSQL data in ${cluster} belongs to root, which PostgreSQL refuses: chown it to an ordinary user`,
    );
  }
  return { uid, gid };
}

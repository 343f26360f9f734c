import { chownSync, lstatSync, mkdtempSync, symlinkSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeDurablySync } from "../../shared/durable-files.ts";
import { canReach, isRoot } from "./account.ts";
import { EmbeddedDatabaseError } from "./failure.ts";
import type { ClusterLocation } from "./location.ts";
import { isSameFolder, readIfPresent } from "./processes.ts";

/** The address of a Unix socket holds 107 bytes on Linux and 103 on macOS; the smaller bound suits both. */
const SOCKET_PATH_MAX_BYTES = 103;
/** The part of a temporary folder's name that the system chooses. */
const TEMPORARY_SUFFIX = "XXXXXX";
const TEMPORARY_PREFIX = "tessera-";
/** A link in such a folder to the cluster that it belongs to, because a copy of the cluster names it as well. */
const OWNER_LINK = "cluster";
/** PostgreSQL names its socket after this number, and opens no port. */
const DEFAULT_PORT = 5_432;

/** The path of the socket in a folder. */
export function socketPath(folder: string, port = DEFAULT_PORT): string {
  return join(folder, `.s.PGSQL.${port}`);
}

function fits(folder: string): boolean {
  return Buffer.byteLength(socketPath(folder)) <= SOCKET_PATH_MAX_BYTES;
}

/**
 * The folder of the cluster's socket: the cluster itself, which only the account that runs PostgreSQL can
 * enter. The path of a cluster may be too long for a socket; its socket is in a temporary folder of that
 * account then, which later starts of this cluster use again. Only the owner of the server may call this.
 */
export function chooseSocketFolder(location: ClusterLocation, log: (line: string) => void): string {
  if (fits(location.cluster)) return location.cluster;
  const earlier = readIfPresent(location.socketFolder)?.trim();
  if (earlier !== undefined && isOwn(location, earlier)) return earlier;
  const prefix = [tmpdir(), "/tmp"]
    .map((base) => join(base, TEMPORARY_PREFIX))
    .find((each) => fits(each + TEMPORARY_SUFFIX) && canReach(location.account, each));
  if (prefix === undefined) {
    throw new EmbeddedDatabaseError(
      `the path ${location.cluster} is too long for a Unix socket, and so are those of temporary folders: set a shorter DATA_DIR or TMPDIR`,
    );
  }
  // The system creates it with the mode 0700.
  const folder = mkdtempSync(prefix);
  symlinkSync(location.cluster, join(folder, OWNER_LINK));
  if (isRoot()) chownSync(folder, location.account.uid, location.account.gid);
  writeDurablySync(location.socketFolder, `${folder}\n`);
  log(`the socket of PostgreSQL is in ${folder}, because the path of DATA_DIR is too long for one`);
  return folder;
}

/** Whether a folder is still there, belongs to this cluster, and only the account that runs PostgreSQL can enter it. */
function isOwn({ account, cluster }: ClusterLocation, folder: string): boolean {
  const status = lstatSync(folder, { throwIfNoEntry: false });
  if (status?.isDirectory() !== true || status.uid !== account.uid) return false;
  return (status.mode & 0o077) === 0 && isSameFolder(join(folder, OWNER_LINK), cluster);
}

/** Whether a server listens on the socket. */
export function accepts(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = connect({ path });
  probe.once("connect", () => resolve(true));
  probe.once("error", () => resolve(false));
  return promise.finally(() => probe.destroy());
}

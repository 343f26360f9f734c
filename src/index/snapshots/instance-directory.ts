import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { tryLockFile, unlockFile } from "../../../native/index.ts";
import { PRIVATE_DIRECTORY } from "../../ops/durable-files.ts";

/** Processes that can share one DATA_DIR. */
const INDEX_INSTANCES_MAX = 64;

/** A directory for snapshots that this process has locked for its lifetime. */
export interface InstanceDirectory {
  readonly path: string;
  release(): void;
}

/** The mode also applies to a directory that exists, and whatever the umask is. */
function makePrivate(directory: string): void {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, PRIVATE_DIRECTORY);
}

/** Locks the first free directory, so that processes sharing a DATA_DIR never share snapshots. */
export function claimInstanceDirectory(dataDir: string): InstanceDirectory {
  const parent = join(dataDir, "index");
  makePrivate(parent);
  for (let number = 0; number < INDEX_INSTANCES_MAX; number++) {
    const lock = tryLockFile(join(parent, `slot-${number}.lock`));
    if (lock === null) continue;
    const path = join(parent, `slot-${number}`);
    makePrivate(path);
    return { path, release: () => unlockFile(lock) };
  }
  throw new Error(`${INDEX_INSTANCES_MAX} processes already use the data directory ${dataDir}`);
}

import { chownSync, closeSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { isRoot } from "./account.ts";
import type { ClusterLocation } from "./location.ts";

/**
 * Takes the right to start and to stop the server, unless another process has it. The kernel takes it from a
 * process that ends, however that happens. Resolves to the function that gives it back.
 */
export async function tryOwn({ home }: ClusterLocation): Promise<(() => void) | undefined> {
  const lock = join(home, "lock");
  // Loaded here, so that `tessera doctor` can say that the search core does not load.
  const { tryLockFile, unlockFile } = await import("../../../native/index.ts");
  closeSync(openSync(lock, "a", 0o600));
  // When root opens the cluster of an ordinary user, that user must be able to lock the file later.
  const { uid, gid } = statSync(home);
  if (isRoot() && statSync(lock).uid !== uid) chownSync(lock, uid, gid);
  const handle = tryLockFile(lock);
  return handle === null ? undefined : () => unlockFile(handle);
}

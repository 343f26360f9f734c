import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../config/schema.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

/** With less free space, `doctor` warns. */
const DISK_FREE_SAFE_BYTES = 2_147_483_648;
/** With less, the disk is full: PostgreSQL needs as much for the next segment of its log. */
const DISK_FULL_BYTES = 16_777_216;

const BYTES_PER_GIB = 1_073_741_824;

/** Whether DATA_DIR has space and may be written to. */
export function checkDisk({ dataDir }: Config): Finding {
  try {
    const folder = existingParent(dataDir);
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    const free = bavail * bsize;
    const found = `${(free / BYTES_PER_GIB).toFixed(1)} GiB free in ${dataDir}`;
    if (free >= DISK_FREE_SAFE_BYTES) return ok("disk", found);
    const remedy = "free some space: snapshots and an embedded database need it";
    if (free >= DISK_FULL_BYTES) return warning("disk", found, remedy);
    return failed("disk", `full: ${found}`, `${remedy}; or move DATA_DIR`);
  } catch (error) {
    const remedy = "make DATA_DIR a folder that this account may write to";
    return failed("disk", (error as Error).message, remedy);
  }
}

/** The folder itself, or where it is going to be created. */
function existingParent(folder: string): string {
  return existsSync(folder) ? folder : existingParent(dirname(folder));
}

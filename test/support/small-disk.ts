import { chownSync, closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { onCleanup } from "../../support/cleanup.ts";
import { temporaryFolder } from "../../support/folders.ts";

export interface SmallDisk {
  readonly path: string;
  /** Takes all the space that is left. */
  fill(): void;
  /** Gives the space back. */
  free(): void;
}

const FILLER = "filler";
/** Smaller than the pages of a database, so that nothing fits any more. */
const PIECE = Buffer.alloc(4_096);

/**
 * A real file system of a few megabytes in memory. Mounting needs root: without it the test fails,
 * rather than passing without having tested anything.
 */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const path = join(temporaryFolder("small-disk"), "mount");
  mkdirSync(path);
  const mounted = Bun.spawnSync([
    "mount",
    "-t",
    "tmpfs",
    "-o",
    `size=${megabytes}m`,
    "tmpfs",
    path,
  ]);
  if (!mounted.success) {
    throw new Error(`a file system cannot be mounted, which needs root: ${mounted.stderr}`);
  }
  onCleanup(() => void Bun.spawnSync(["umount", "-l", path]));
  return {
    path,
    fill() {
      const file = openSync(join(path, FILLER), "a");
      try {
        for (;;) writeSync(file, PIECE);
      } catch (error) {
        if ((error as { code?: string }).code !== "ENOSPC") throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(join(path, FILLER), { force: true }),
  };
}

/** Gives a folder to the account that owns another one. */
export function giveToOwnerOf(folder: string, owned: string): void {
  const { uid, gid } = statSync(owned);
  chownSync(folder, uid, gid);
}

import { chownSync, mkdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { onCleanup } from "../cleanup.ts";
import { temporaryFolder } from "../folders.ts";

export interface SmallDisk {
  readonly path: string;
  /** Leaves no space: the file system shrinks to what it holds. */
  fill(): void;
  /** Gives the space back. */
  free(): void;
}

/**
 * A real file system of a few megabytes in memory. Mounting needs root: without it the test fails,
 * rather than passing without having tested anything.
 */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const path = join(temporaryFolder("small-disk"), "mount");
  mkdirSync(path);
  const size = megabytes * 1_048_576;
  mount("size", size, path);
  onCleanup(() => void Bun.spawnSync(["umount", "-l", path]));
  return {
    path,
    fill() {
      // What is written between the two calls makes the new size too small, which is refused.
      while (!tryMount("remount,size", usedBytes(path), path).success) Bun.sleepSync(1);
    },
    free: () => mount("remount,size", size, path),
  };
}

function usedBytes(path: string): number {
  const { bsize, blocks, bfree } = statfsSync(path);
  return Math.max(1, blocks - bfree) * bsize;
}

function tryMount(option: string, bytes: number, path: string) {
  return Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `${option}=${bytes}`, "tmpfs", path]);
}

function mount(option: string, bytes: number, path: string): void {
  const { success, stderr } = tryMount(option, bytes, path);
  if (!success) throw new Error(`a file system cannot be mounted, which needs root: ${stderr}`);
}

/** Gives a folder to the account that owns another one. */
export function giveToOwnerOf(folder: string, owned: string): void {
  const { uid, gid } = statSync(owned);
  chownSync(folder, uid, gid);
}

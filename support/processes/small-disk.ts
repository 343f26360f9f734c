import { chownSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { onCleanup } from "../cleanup.ts";
import { type Fault, faultUntil } from "../faults.ts";
import { temporaryFolder } from "../folders.ts";

export interface SmallDisk {
  readonly path: string;
  /** Leaves no space: the file system shrinks to its contents. */
  fill(): Fault;
  /** Refuses every change, as a file system that has met an error does. */
  forbid(): Fault;
}

/** Where file systems are mounted, and how other processes of this user see them. */
interface MountSpace {
  /** The command that runs another one there. */
  readonly enter: readonly string[];
  /** The path of its root. */
  readonly root: string;
}

const IS_ROOT = process.getuid?.() === 0;
/** An ordinary user may mount where it is root by name: in a user namespace of its own. */
const NEW_SPACE = IS_ROOT
  ? ["unshare", "--mount"]
  : ["unshare", "--user", "--map-root-user", "--mount"];

/**
 * Whether this system grants no small disks, for tests that are skipped then. The reason goes to standard
 * error, which the test command shows when a test was skipped.
 */
export function lacksSmallDisks(): boolean {
  const folder = temporaryFolder("small-disk");
  const command = [...NEW_SPACE, ...mountCommand("size", 4_096, folder)];
  const hasUnshare = Bun.which("unshare") !== null;
  const { success, stderr } = hasUnshare
    ? Bun.spawnSync(command)
    : { success: false, stderr: "there is no command unshare" };
  if (success) return false;
  const reason = stderr.toString().trim();
  process.stderr.write(`tests are skipped because no small disk can be mounted: ${reason}\n`);
  return true;
}

/** A real file system of a few megabytes in memory. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk> {
  const folder = temporaryFolder("small-disk");
  const size = megabytes * 1_048_576;
  const { enter, root } = IS_ROOT ? { enter: [], root: "/" } : await openMountSpace();
  const tryMount = (option: string, bytes: number) =>
    Bun.spawnSync([...enter, ...mountCommand(option, bytes, folder)]);
  const run = (...command: readonly string[]) => {
    const { success, stderr } = Bun.spawnSync([...enter, ...command]);
    if (!success) throw new Error(`${command[0]} fails: ${stderr}`);
  };
  const mount = (option: string, bytes: number) => {
    const { success, stderr } = tryMount(option, bytes);
    if (!success) throw new Error(`a small disk cannot be mounted: ${stderr}`);
  };
  mount("size", size);
  onCleanup(() => {
    Bun.spawnSync([...enter, "umount", "-l", folder]);
  });
  const path = join(root, folder);
  return {
    path,
    fill() {
      const freed = faultUntil(() => mount("remount,size", size));
      // Bytes that are written between the two calls make the new size too small, which is refused.
      while (!tryMount("remount,size", usedBytes(path)).success) Bun.sleepSync(1);
      return freed;
    },
    forbid() {
      // What is open stays open, as the files of a service that runs, so the same folder is mounted over itself.
      run("mount", "--bind", folder, folder);
      const allowed = faultUntil(() => run("umount", "-l", folder));
      run("mount", "-o", "remount,bind,ro", folder);
      return allowed;
    },
  };
}

/** Namespaces that exist as long as a process in them, through whose folder in /proc their files are seen. */
async function openMountSpace(): Promise<MountSpace> {
  const holder = Bun.spawn([...NEW_SPACE, "sh", "-c", "echo open; exec cat"], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  onCleanup(async () => {
    holder.kill("SIGKILL");
    await holder.exited;
  });
  await holder.stdout.getReader().read();
  const { pid } = holder;
  return {
    enter: ["nsenter", `--target=${pid}`, "--user", "--mount", "--preserve-credentials", "--"],
    root: `/proc/${pid}/root`,
  };
}

function mountCommand(option: string, bytes: number, folder: string): string[] {
  return ["mount", "-t", "tmpfs", "-o", `${option}=${bytes}`, "tmpfs", folder];
}

function usedBytes(path: string): number {
  const { bsize, blocks, bfree } = statfsSync(path);
  return Math.max(1, blocks - bfree) * bsize;
}

/** Gives a folder to the account that owns another one. */
export function giveToOwnerOf(folder: string, owned: string): void {
  const { uid, gid } = statSync(owned);
  chownSync(folder, uid, gid);
}

import { readFileSync } from "node:fs";
import { explainFileError } from "./failure.ts";

/** The file's text; undefined when there is no such file or process. Throws when that cannot be found out. */
export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // A process may end between the opening and the reading of its file.
    if (code === "ENOENT" || code === "ESRCH") return undefined;
    throw explainFileError(path, error);
  }
}

/**
 * Distinguishes a process from a later one with the same id: the boot and the tick of its start.
 * Undefined when there is no such process. Throws when that cannot be found out.
 */
export function processIdentity(pid: number): string | undefined {
  if (process.platform !== "linux") return identityFromPs(pid);
  const status = readIfPresent(`/proc/${pid}/stat`);
  if (status === undefined) return undefined;
  // The second field is the program's name in parentheses, which may contain spaces.
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  if (state === "Z" || state === "X") return undefined;
  return `${readIfPresent("/proc/sys/kernel/random/boot_id")?.trim()}/${fields[19]}`;
}

/** Whether a process runs. A zombie does not. Throws when that cannot be found out. */
export function isAlive(pid: number): boolean {
  if (process.platform === "linux") return processIdentity(pid) !== undefined;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs as another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** The command line of a process, joined by spaces; empty when there is no such process. */
export function commandLine(pid: number): string {
  if (process.platform !== "linux") return ps(pid, "command=") ?? "";
  return readIfPresent(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ") ?? "";
}

function identityFromPs(pid: number): string | undefined {
  return ps(pid, "lstart=");
}

function ps(pid: number, column: string): string | undefined {
  const result = Bun.spawnSync(["ps", "-o", column, "-p", String(pid)], { stderr: "ignore" });
  const text = result.stdout.toString().trim();
  return result.success && text !== "" ? text : undefined;
}

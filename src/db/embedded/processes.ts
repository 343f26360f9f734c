import { readFileSync } from "node:fs";

/**
 * Distinguishes a process from a later one with the same id: the boot and the tick of its start.
 * Undefined when there is no such process.
 */
export function processIdentity(pid: number): string | undefined {
  if (process.platform !== "linux") return identityFromPs(pid);
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses, which may contain spaces.
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    const state = fields[0];
    if (state === "Z" || state === "X") return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${fields[19]}`;
  } catch {
    return undefined;
  }
}

/** Whether a process runs. A zombie does not. */
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
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

function identityFromPs(pid: number): string | undefined {
  return ps(pid, "lstart=");
}

function ps(pid: number, column: string): string | undefined {
  const result = Bun.spawnSync(["ps", "-o", column, "-p", String(pid)], { stderr: "ignore" });
  const text = result.stdout.toString().trim();
  return result.success && text !== "" ? text : undefined;
}

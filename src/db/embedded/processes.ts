import { readFileSync } from "node:fs";

/**
 * A mark that tells a process from a later one with the same number: the boot and the tick at which
 * it started. Undefined when no such process exists.
 */
export function startMark(pid: number): string | undefined {
  if (process.platform !== "linux") return startMarkFromPs(pid);
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses and may itself contain blanks.
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    const state = fields[0];
    if (state === "Z" || state === "X") return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${fields[19]}`;
  } catch {
    return undefined;
  }
}

/** Whether a process runs. One that has ended and waits for its parent to notice does not. */
export function isAlive(pid: number): boolean {
  if (process.platform === "linux") return startMark(pid) !== undefined;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs as somebody else.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** The command line of a process, blanks between its words; empty when there is no such process. */
export function commandLine(pid: number): string {
  if (process.platform !== "linux") return ps(pid, "command=") ?? "";
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

function startMarkFromPs(pid: number): string | undefined {
  return ps(pid, "lstart=");
}

function ps(pid: number, column: string): string | undefined {
  const result = Bun.spawnSync(["ps", "-o", column, "-p", String(pid)], { stderr: "ignore" });
  const text = result.stdout.toString().trim();
  return result.success && text !== "" ? text : undefined;
}

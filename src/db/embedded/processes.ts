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

/** The command line of a process, joined by spaces; empty when there is no such process or it is a zombie. */
export function commandLine(pid: number): string {
  if (process.platform === "linux") {
    return readIfPresent(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ") ?? "";
  }
  const result = Bun.spawnSync(["ps", "-o", "command=", "-p", String(pid)], { stderr: "ignore" });
  return result.success ? result.stdout.toString() : "";
}

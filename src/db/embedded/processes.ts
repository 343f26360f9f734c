import { readFileSync, readlinkSync, statSync } from "node:fs";
import { basename } from "node:path";
import { explainFileError } from "./failure.ts";

/** The facts that the system tells about a running process. */
export type RunningProcess = {
  readonly uid: number;
  /** Its arguments, each with `separator` behind it. They are as the process wishes: any program can have any. */
  readonly commandLine: string;
  readonly separator: string;
  /** The name of its executable; the one that its arguments state where the system does not tell. */
  readonly executable: string;
  /** The folder that it works in, where the system tells. */
  readonly folder: FileIdentity | undefined;
  /** Seconds since 1970. */
  readonly startedAt: number;
};

type FileIdentity = { readonly dev: number; readonly ino: number };

/** Unit of times in /proc, the same on every Linux that Bun runs on. */
const TICKS_PER_SECOND = 100;
/** The position of the start in /proc/<pid>/stat, counted from the first field behind the name. */
const START_FIELD = 19;
const MS_PER_SECOND = 1_000;
/** The user, the start and the command. */
const PS_LINE = /^\s*(\d+)\s+(\w+ \w+ +\d+ [\d:]+ \d+)\s+(.*)\n/;
/** Linux says so of an executable that was replaced, for example by an upgrade. */
const REPLACED = / \(deleted\)$/;

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

/** Whether two paths lead to the same folder, however they are written. */
export function isSameFolder(one: string, other: string): boolean {
  return isSame(identityOf(one), identityOf(other));
}

export function isSame(one: FileIdentity | undefined, other: FileIdentity | undefined): boolean {
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}

/** Undefined for a path that leads nowhere, or that this process may not follow. */
export function identityOf(path: string): FileIdentity | undefined {
  try {
    const { dev, ino } = statSync(path);
    return { dev, ino };
  } catch {
    return undefined;
  }
}

/**
 * Undefined when no process has this id, or only one that has ended or that this process may not look at.
 *
 * @param platform where it is not Linux, `ps` is asked, which does not know the folder
 */
export function readProcess(
  pid: number,
  platform: NodeJS.Platform = process.platform,
): RunningProcess | undefined {
  try {
    return platform === "linux" ? fromProc(pid) : fromPs(pid);
  } catch {
    return undefined;
  }
}

function fromProc(pid: number): RunningProcess | undefined {
  const folder = `/proc/${pid}`;
  const commandLine = readFileSync(`${folder}/cmdline`, "utf8");
  // A process that has ended and was not awaited has no arguments.
  if (commandLine === "") return undefined;
  // The name of the program comes before this bracket and may contain any others.
  const fields = readFileSync(`${folder}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  const [, bootedAt] = /^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8")) ?? [];
  return {
    uid: statSync(folder).uid,
    commandLine,
    separator: "\0",
    executable: executableIn(folder) ?? programOf(commandLine, "\0"),
    folder: identityOf(`${folder}/cwd`),
    startedAt: Number(bootedAt) + Number(fields[START_FIELD]) / TICKS_PER_SECOND,
  };
}

/** Undefined in a container whose root lacks the right to trace processes of other accounts. */
function executableIn(folder: string): string | undefined {
  try {
    return basename(readlinkSync(`${folder}/exe`).replace(REPLACED, ""));
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): RunningProcess | undefined {
  const { stdout } = Bun.spawnSync(
    ["ps", "-ww", "-o", "uid=,lstart=,command=", "-p", String(pid)],
    { env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" }, stderr: "ignore" },
  );
  const [, uid, start, command] = PS_LINE.exec(stdout.toString()) ?? [];
  if (uid === undefined || command === undefined) return undefined;
  return {
    uid: Number(uid),
    commandLine: `${command} `,
    separator: " ",
    executable: programOf(command, " "),
    folder: undefined,
    startedAt: Date.parse(`${start} UTC`) / MS_PER_SECOND,
  };
}

function programOf(commandLine: string, separator: string): string {
  return basename(commandLine.split(separator)[0] ?? "");
}

/** A reason why the embedded PostgreSQL cannot serve, in one line that names the remedy. */
export class EmbeddedDatabaseError extends Error {
  override name = "EmbeddedDatabaseError";
}

/** What a server logs that is started while the last processes of a killed one are still ending. */
export const STILL_ENDING = /shared memory block .* is still in use/;

/** Known errors of initdb and postgres, with the remedy for each. */
const REMEDIES: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [/No space left on device/i, "the disk is full: free some space, or move DATA_DIR"],
  [/Disk quota exceeded/i, "the disk quota is used up: free some space, or move DATA_DIR"],
  [/Read-only file system/i, "the file system is read-only: set DATA_DIR to a writable folder"],
  [
    /could not (resize|open|create) shared memory|could not create semaphores/i,
    "the system grants too little shared memory: raise it (Docker: --shm-size=256m)",
  ],
  [
    /error while loading shared libraries|Library not loaded/i,
    "a system library is missing: run `bun install` again, or set DATABASE_URL to your own PostgreSQL",
  ],
  [
    /Permission denied/i,
    "its files are not accessible to this user: run as their owner, or set another DATA_DIR",
  ],
  [STILL_ENDING, "processes of a killed PostgreSQL still use its data: end them, or wait"],
];

/** Turns the output of a failed PostgreSQL program, which becomes the cause, into one line with the remedy. */
export function explainFailure(step: string, output: string, logFile: string): Error {
  const known = REMEDIES.find(([pattern]) => pattern.test(output))?.[1];
  const found =
    output.match(/^.*\b(?:FATAL|PANIC|error):\s*(.+)$/m)?.[1] ??
    firstLine(output) ??
    "unknown cause";
  const unknown = `${found.trim()} (see ${logFile}, or set DATABASE_URL to your own PostgreSQL)`;
  return new EmbeddedDatabaseError(`PostgreSQL could not ${step}: ${known ?? unknown}`, {
    cause: output,
  });
}

const DISK_FULL = "the disk is full: free some space, or move DATA_DIR";
const FOREIGN = "it belongs to another user: run as its owner, or set another DATA_DIR";
const NO_FOLDER = "a file is where a folder should be: move it away, or set another DATA_DIR";
const TOO_MANY = "too many files and connections are open: raise their limit (`ulimit -n`)";

/** The remedy by the code of an error of the file system. */
const FILE_REMEDIES: Readonly<Record<string, string>> = {
  ...{ ENOSPC: DISK_FULL, EDQUOT: DISK_FULL, EACCES: FOREIGN, EPERM: FOREIGN },
  ...{ ENOTDIR: NO_FOLDER, EEXIST: NO_FOLDER, EMFILE: TOO_MANY, ENFILE: TOO_MANY },
  EROFS: "the file system is read-only: set DATA_DIR to a writable folder",
};

/** Turns an error of a file operation into one line with the remedy, where one is known. */
export function explainFileError(path: string, error: unknown): Error {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const remedy = FILE_REMEDIES[code as string];
  if (remedy === undefined) return error instanceof Error ? error : new Error(String(error));
  return new EmbeddedDatabaseError(`cannot use ${path}: ${remedy}`);
}

function firstLine(text: string): string | undefined {
  return text
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "");
}

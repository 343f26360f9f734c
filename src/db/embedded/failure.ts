/** A reason why the embedded PostgreSQL cannot serve, in one line that names the remedy. */
export class EmbeddedDatabaseError extends Error {
  override name = "EmbeddedDatabaseError";
}

/** The server log of a start while processes of another server still use the cluster. */
export const STILL_ENDING = /shared memory block .* is still in use/;

/** Known errors of the file system, of initdb and of postgres, with the remedy for each. */
const REMEDIES: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [/no space left on device/i, "the disk is full: free some space, or move DATA_DIR"],
  [/disk quota exceeded/i, "the disk quota is used up: free some space, or move DATA_DIR"],
  [/read-only file system/i, "the file system is read-only: set DATA_DIR to a writable folder"],
  [
    /could not (resize|open|create) shared memory|could not create semaphores/i,
    "the system grants too little shared memory: raise it (Docker: --shm-size=256m)",
  ],
  [
    /error while loading shared libraries|Library not loaded/i,
    "a system library is missing: run `bun install` again, or set DATABASE_URL to your own PostgreSQL",
  ],
  [
    /permission denied|operation not permitted/i,
    "it belongs to another user: run as its owner, or set another DATA_DIR",
  ],
  [/ENOTDIR|EEXIST/, "a file is where a folder should be: move it away, or set another DATA_DIR"],
  [
    /too many open files/i,
    "too many files and connections are open: raise their limit (`ulimit -n`)",
  ],
  [STILL_ENDING, "processes of another PostgreSQL still use its data: end them, or wait"],
];

const remedyFor = (text: string) => REMEDIES.find(([pattern]) => pattern.test(text))?.[1];

/** Turns the output of a failed PostgreSQL program, which becomes the cause, into one line with the remedy. */
export function explainFailure(step: string, output: string, logFile: string): Error {
  const found =
    /^.*\b(?:FATAL|PANIC|error):\s*(.+)$/m.exec(output)?.[1] ?? /\S.*/.exec(output)?.[0];
  const unknown = `${found?.trim() ?? "unknown cause"} (see ${logFile}, or set DATABASE_URL to your own PostgreSQL)`;
  return new EmbeddedDatabaseError(
    `PostgreSQL could not ${step}: ${remedyFor(output) ?? unknown}`,
    {
      cause: output,
    },
  );
}

/** Turns an error of a file operation into one line with the remedy, where one is known. */
export function explainFileError(path: string, error: unknown): Error {
  if (!(error instanceof Error && "code" in error)) return error as Error;
  const remedy = remedyFor(error.message);
  if (remedy === undefined) return error;
  return new EmbeddedDatabaseError(`cannot use ${path}: ${remedy}`);
}

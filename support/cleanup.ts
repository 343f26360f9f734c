/**
 * Stops what a process has started: servers, folders, child processes. Tests call `cleanUp` after the
 * last test of each file and of the process (see support/preload.ts), benchmarks at their end; signals call
 * it before the exit.
 */
type Closer = () => Promise<void> | void;

/** Closers, each with the test file that has registered it; those of the whole process have none. */
const closers = new Map<Closer, string | undefined>();

/** How many starts of what the whole process shares are under way. */
let sharedStarts = 0;

/** Registers a closer. The returned function runs it at once, and only once. */
export function onCleanup(closer: Closer): () => Promise<void> {
  closers.set(closer, sharedStarts > 0 ? undefined : Bun.main);
  return async () => {
    if (closers.delete(closer)) await closer();
  };
}

/** Starts something that all test files of the process share, so that it is stopped after the last one. */
export async function startShared<T>(start: () => T | Promise<T>): Promise<T> {
  sharedStarts++;
  try {
    return await start();
  } finally {
    sharedStarts--;
  }
}

/** Runs the closers of a test file, or all of them: the newest first, because later things use earlier ones. */
export async function cleanUp(file?: string): Promise<void> {
  for (const [closer, owner] of [...closers].reverse()) {
    if (file !== undefined && owner !== file) continue;
    closers.delete(closer);
    try {
      await closer();
    } catch (error) {
      process.stderr.write(`clean-up failed: ${error}\n`);
    }
  }
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

for (const [signal, status] of Object.entries(SIGNALS)) {
  process.once(signal, async () => {
    await cleanUp();
    process.exit(status);
  });
}

/** Runs a benchmark or a script, stops everything it started, and ends the process. */
export async function runProgram(work: () => Promise<void>): Promise<never> {
  let failed = false;
  try {
    await work();
  } catch (error) {
    failed = true;
    console.error(error);
  }
  await cleanUp();
  // Some of the native code under measurement keeps threads that would hold the process.
  process.exit(failed ? 1 : undefined);
}

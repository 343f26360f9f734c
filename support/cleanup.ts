/**
 * Stops what a process has started: servers, folders, child processes. Tests call `cleanUp` after the
 * last test (see support/preload.ts), benchmarks at their end; signals call it before the exit.
 */
type Closer = () => Promise<void> | void;

const closers = new Set<Closer>();

/** Registers a closer. The returned function runs it at once, and only once. */
export function onCleanup(closer: Closer): () => Promise<void> {
  closers.add(closer);
  return async () => {
    if (closers.delete(closer)) await closer();
  };
}

/** Runs all closers, the newest first, because later things use earlier ones. */
export async function cleanUp(): Promise<void> {
  for (const closer of [...closers].reverse()) {
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

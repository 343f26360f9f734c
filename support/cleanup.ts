/**
 * What a test process started and must end again: servers, folders, child processes. The preload
 * file ends everything after the last test; signals end everything before the process goes.
 */
type Closer = () => Promise<void> | void;

const closers = new Set<Closer>();

/** Registers a closer and returns a function that runs it now instead, once. */
export function onCleanup(closer: Closer): () => Promise<void> {
  closers.add(closer);
  return async () => {
    if (closers.delete(closer)) await closer();
  };
}

/** Ends everything, the newest first, because later things use earlier ones. */
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

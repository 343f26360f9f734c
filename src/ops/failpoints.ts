/** The places at which a test can kill the process, or at `indexing.*` its indexing thread. */
export const FAILPOINTS = [
  "delivery.received",
  "delivery.leased",
  "delivery.committed",
  "delivery.released",
  "answer.received",
  "answer.leased",
  "answer.locked",
  "answer.written",
  "answer.committed",
  "answer.released",
  "indexing.rebuild",
] as const;
type Failpoint = (typeof FAILPOINTS)[number];

/** Called at every failpoint. Crashes at the failpoints that a test has named. */
export type FailpointTrigger = (point: Failpoint) => void;

const ignore: FailpointTrigger = () => {};

function killProcess(): void {
  process.kill(process.pid, "SIGKILL");
}

/** Ends this thread by an uncaught error. */
export function crashThread(): void {
  setImmediate(() => {
    throw new Error("crashed at a failpoint");
  });
}

/**
 * Crashes at the named failpoints. By default the process dies by SIGKILL without cleaning up. Without names, as in
 * production, failpoints do nothing. Throws for an unknown name.
 */
export function createFailpoints(
  names: readonly string[],
  crash: () => void = killProcess,
): FailpointTrigger {
  if (names.length === 0) return ignore;
  const known: readonly string[] = FAILPOINTS;
  for (const name of names) {
    if (!known.includes(name)) throw new Error(`unknown failpoint "${name}"`);
  }
  return (point) => {
    if (names.includes(point)) crash();
  };
}

/** The places at which a test can make the process die. */
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
] as const;
type Failpoint = (typeof FAILPOINTS)[number];

/** Called at every failpoint; kills the process where a test has asked for it. */
export type FailpointTrigger = (point: Failpoint) => void;

const ignore: FailpointTrigger = () => {};

/**
 * Makes the process die by SIGKILL at the named failpoints, without cleaning up, as a crash would.
 * Without names, as in production, nothing happens. Throws for an unknown name.
 */
export function createFailpoints(names: readonly string[]): FailpointTrigger {
  if (names.length === 0) return ignore;
  const known: readonly string[] = FAILPOINTS;
  for (const name of names) {
    if (!known.includes(name)) throw new Error(`TESSERA_FAILPOINTS: unknown failpoint "${name}"`);
  }
  return (point) => {
    if (names.includes(point)) process.kill(process.pid, "SIGKILL");
  };
}

/** The steps at which a test can make the process die. */
export const FAILPOINTS = [
  "delivery.received",
  "delivery.leased",
  "delivery.committed",
  "delivery.released",
  "answer.received",
  "answer.locked",
  "answer.written",
  "answer.committed",
] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

/** Called at each step; kills the process where a test has asked for that. */
export type Step = (point: Failpoint) => void;

const nothing: Step = () => {};

/**
 * Makes the process die by SIGKILL at the named steps, as a crash would, without a chance to clean
 * up. Without names, as in production, a step does nothing. Throws for a name that no step has.
 */
export function createSteps(names: readonly string[]): Step {
  if (names.length === 0) return nothing;
  const known: readonly string[] = FAILPOINTS;
  for (const name of names) {
    if (!known.includes(name)) throw new Error(`TESSERA_FAILPOINTS: there is no step "${name}"`);
  }
  return (point) => {
    if (names.includes(point)) process.kill(process.pid, "SIGKILL");
  };
}

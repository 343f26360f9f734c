/** Milliseconds between looks: an eighth of the time waited so far, so that long waits take little processor time. */
const POLL_SHARE = 1 / 8;
const POLL_MIN_MS = 20;
const POLL_MAX_MS = 250;
const UNTIL_TIMEOUT_MS = 240_000;

/** Resolves once the condition holds. Rejects when it does not for longer than any promise allows. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const begun = performance.now();
  while (!(await holds())) {
    const waited = performance.now() - begun;
    if (waited > UNTIL_TIMEOUT_MS) throw new Error("what was waited for did not happen");
    await Bun.sleep(Math.min(Math.max(waited * POLL_SHARE, POLL_MIN_MS), POLL_MAX_MS));
  }
}

const UNTIL_POLL_MS = 20;
const UNTIL_TIMEOUT_MS = 240_000;

/** Resolves once the condition holds. Rejects when it does not for longer than any promise allows. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + UNTIL_TIMEOUT_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error("what was waited for did not happen");
    await Bun.sleep(UNTIL_POLL_MS);
  }
}

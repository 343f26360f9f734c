/** Milliseconds between looks: an eighth of the time waited so far, so that long waits take little processor time. */
const POLL_SHARE = 1 / 8;
const POLL_MIN_MS = 20;
const POLL_MAX_MS = 250;
const UNTIL_TIMEOUT_MS = 240_000;

type Condition = () => unknown;

/**
 * Resolves once the condition returns something truthy, or rejects with `what` and the last value it returned.
 * The limit is longer than any promise allows, so a slow machine never reaches it.
 *
 * @param what the awaited state, as a phrase: "the webhook event is stored"
 */
export async function until(
  ...args: [what: string, holds: Condition] | [Condition]
): Promise<void> {
  const [what, holds] = args.length === 2 ? args : ["the awaited condition", args[0]];
  const begun = performance.now();
  for (let last = await holds(); !last; last = await holds()) {
    const waited = performance.now() - begun;
    if (waited > UNTIL_TIMEOUT_MS) {
      throw new Error(`did not happen: ${what} (last seen: ${Bun.inspect(last)})`);
    }
    await Bun.sleep(Math.min(Math.max(waited * POLL_SHARE, POLL_MIN_MS), POLL_MAX_MS));
  }
}

/** Repeats a check until it passes, or rejects with `what` and the last failure of the check as the cause. */
export async function untilPasses(what: string, check: () => unknown): Promise<void> {
  let cause: unknown;
  const passes = async () => {
    try {
      await check();
      return true;
    } catch (error) {
      cause = error;
      return false;
    }
  };
  await until(what, passes).catch(({ message }: Error) => {
    throw new Error(message, { cause });
  });
}

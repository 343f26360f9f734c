/** Claimed files and rebuilds are free again after this time, because the node that claimed them may have died. */
export const CLAIM_SECONDS = 20;
/** Interval at which the claim of unfinished work is extended. */
const CLAIM_EXTENSION_MS = 5_000;

/** Does work on something that is claimed, and extends the claim until it ends. */
export async function whileClaimed<T>(
  extend: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  let extended: Promise<void> | undefined;
  const timer = setInterval(() => {
    extended = extend().catch(() => {});
  }, CLAIM_EXTENSION_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    // An extension that is under way must not follow the release.
    await extended;
  }
}

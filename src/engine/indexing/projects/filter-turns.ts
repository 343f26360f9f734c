import type { LimitFunction } from "p-limit";

/** A filter is evaluated for so long at a time; then changes are indexed, and other filters follow. */
const FILTER_SLICE_MS = 5;

/**
 * Runs an evaluation, which yields before each file version. All evaluations of the thread take turns, so
 * none delays others for long. It ends early once nobody needs it any more.
 */
export async function evaluateInTurns(
  turns: LimitFunction,
  evaluation: Generator<void>,
  isNeeded: () => boolean = () => true,
): Promise<void> {
  for (let done = false; !done && isNeeded(); ) {
    await turns(async () => {
      const end = performance.now() + FILTER_SLICE_MS;
      while (!done && performance.now() < end) done = evaluation.next().done === true;
      await Bun.sleep(0);
    });
  }
}

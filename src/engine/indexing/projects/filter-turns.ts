import type { LimitFunction } from "p-limit";

/** A filter is evaluated for so long at a time; then changes are indexed, and other filters follow. */
const FILTER_SLICE_MS = 5;

/**
 * Runs an evaluation, which yields after every short step. All evaluations of the thread take turns, so
 * none delays others for long. It ends early, without a result, once nobody needs it any more.
 */
export async function evaluateInTurns<T>(
  turns: LimitFunction,
  evaluation: Generator<void, T>,
  isNeeded: () => boolean = () => true,
): Promise<T | undefined> {
  let step: IteratorResult<void, T> | undefined;
  while (step?.done !== true && isNeeded()) {
    await turns(async () => {
      const end = performance.now() + FILTER_SLICE_MS;
      do step = evaluation.next();
      while (step.done !== true && performance.now() < end);
      await Bun.sleep(0);
    });
  }
  return step?.done === true ? step.value : undefined;
}

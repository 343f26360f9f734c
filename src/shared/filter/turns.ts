import type { LimitFunction } from "p-limit";
import type { Steps } from "./steps.ts";

/** A filter is evaluated for so long at a time; then other work of the thread is done, and other filters follow. */
const FILTER_SLICE_MS = 5;

interface TurnOptions {
  readonly sliceMs?: number;
  isNeeded?(): boolean;
}

/**
 * Runs an evaluation in short steps. All evaluations with the same `turns` follow each other slice by slice,
 * so none delays others for long. It ends early, without a result, once nobody needs it any more.
 */
export async function evaluateInTurns<T>(
  turns: LimitFunction,
  evaluation: Steps<T>,
  { sliceMs = FILTER_SLICE_MS, isNeeded = () => true }: TurnOptions = {},
): Promise<T | undefined> {
  let step: IteratorResult<void, T> | undefined;
  while (step?.done !== true && isNeeded()) {
    await turns(async () => {
      const end = performance.now() + sliceMs;
      do step = evaluation.next();
      while (step.done !== true && performance.now() < end);
      await Bun.sleep(0);
    });
  }
  return step?.done === true ? step.value : undefined;
}

import type { LimitFunction } from "p-limit";
import type { Steps } from "./steps.ts";

/** A filter is evaluated for so long at a time; then other work of the thread is done, and other filters follow. */
const FILTER_SLICE_MS = 5;

interface TurnOptions {
  readonly sliceMs?: number;
  /** The time that the evaluation itself may take. */
  readonly budgetMs?: number;
  isNeeded?(): boolean;
}

/**
 * Runs an evaluation in short steps. All evaluations with the same `turns` follow each other slice by slice,
 * so none delays others for long. It ends early, without a result, once nobody needs it any more or it has used its
 * time.
 */
export async function evaluateInTurns<T>(
  turns: LimitFunction,
  evaluation: Steps<T>,
  {
    sliceMs = FILTER_SLICE_MS,
    budgetMs = Number.POSITIVE_INFINITY,
    isNeeded = () => true,
  }: TurnOptions = {},
): Promise<T | undefined> {
  let step: IteratorResult<void, T> | undefined;
  let usedMs = 0;
  while (step?.done !== true && usedMs < budgetMs && isNeeded()) {
    await turns(async () => {
      const start = performance.now();
      let now = start;
      do {
        step = evaluation.next();
        now = performance.now();
      } while (step.done !== true && now - start < sliceMs);
      usedMs += now - start;
      await Bun.sleep(0);
    });
  }
  return step?.done === true ? step.value : undefined;
}

import pLimit from "p-limit";
import type { Steps } from "../../domain/steps.ts";
import { FairSemaphore, SERIAL } from "../../ops/tenants/fair-semaphore.ts";

/** Time slice of an evaluation. Then the thread does other work, and other evaluations follow. */
const SLICE_MS = 5;
/** Maximum wait for other work on fields of the same user. */
const WAIT_MAX_MS = 500;

/** The reason for the refusal of a filter that was not evaluated in time. */
export const FILTER_LATE = {
  detail:
    "The filter was not compared with all files in time, because it is long or others of yours are being compared. " +
    "Ask again, which goes on from there, or use fewer and shorter patterns.",
  headers: { "retry-after": "1" },
} as const;

interface EvaluationOptions {
  /** The time that the evaluation itself may take. */
  readonly budgetMs?: number;
  isNeeded?(): boolean;
}

/**
 * Runs an evaluation in short steps. It ends early, without a result, once its caller no longer needs it or its time is
 * over.
 */
type Evaluate = <T>(evaluation: Steps<T>, options?: EvaluationOptions) => Promise<T | undefined>;

/** The same evaluation, with a result that marks its completion. */
export function* completely(evaluation: Steps<void>): Steps<true> {
  yield* evaluation;
  return true;
}

/**
 * Work on the fields of files: filters and lists of values. Each user has one piece of it under way at a time, and
 * all evaluations follow each other slice by slice, so none delays others for long.
 */
export class FieldWork {
  readonly #turns = new FairSemaphore({ ...SERIAL, waitMaxMs: WAIT_MAX_MS });
  readonly #slices = pLimit(1);

  constructor(private readonly sliceMs = SLICE_MS) {}

  /** Does work of a user; "late", without beginning, if other work of the same user takes too long. */
  async inTurn<T>(tenant: string, work: (evaluate: Evaluate) => Promise<T>): Promise<T | "late"> {
    const release = await this.#turns.lease(tenant).catch(() => undefined);
    if (release === undefined) return "late";
    try {
      return await work(this.#evaluate);
    } finally {
      release();
    }
  }

  readonly #evaluate: Evaluate = async <T>(
    evaluation: Steps<T>,
    { budgetMs = Number.POSITIVE_INFINITY, isNeeded = () => true }: EvaluationOptions = {},
  ): Promise<T | undefined> => {
    let step: IteratorResult<void, T> | undefined;
    let usedMs = 0;
    while (step?.done !== true && usedMs < budgetMs && isNeeded()) {
      await this.#slices(async () => {
        const start = performance.now();
        let now = start;
        do {
          step = evaluation.next();
          now = performance.now();
        } while (step.done !== true && now - start < this.sliceMs);
        usedMs += now - start;
        await Bun.sleep(0);
      });
    }
    return step?.done === true ? step.value : undefined;
  };
}

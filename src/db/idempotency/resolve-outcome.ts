import pRetry from "p-retry";
import pTimeout, { TimeoutError } from "p-timeout";
import { ATTEMPT_TIMEOUT_MS, OUTCOME_TIMEOUT_MS } from "../../domain/limits.ts";
import { Problem } from "../../domain/problem/problem.ts";
import { isUnavailable, neverRan } from "../errors.ts";
import { retryConflicts } from "../transaction.ts";

const OUTCOME_RETRY_MS = 50;

interface OutcomeOptions {
  /** The problem to throw when the outcome stays unknown. */
  readonly unknown: (cause: unknown) => Problem;
  readonly attemptTimeoutMs?: number;
  readonly outcomeTimeoutMs?: number;
}

/**
 * Runs `attempt`, an idempotent transaction. When the connection breaks during an attempt, the attempt may have
 * committed. Further attempts find out: they wait for the locks of a transaction that is still open, and find the rows
 * of a committed one. Throws `unknown` when all attempts time out, and the error itself when the statement was
 * certainly not sent.
 */
export async function resolveOutcome<T>(
  attempt: () => Promise<T>,
  options: OutcomeOptions,
): Promise<T> {
  const { attemptTimeoutMs = ATTEMPT_TIMEOUT_MS, outcomeTimeoutMs = OUTCOME_TIMEOUT_MS } = options;
  let deadline: number | undefined;

  // An attempt cannot be stopped. After its timeout it continues in the background.
  const boundedAttempt = () => {
    const left = deadline === undefined ? attemptTimeoutMs : deadline - performance.now();
    return pTimeout(attempt(), { milliseconds: Math.max(left, 1) });
  };

  return await pRetry(() => retryConflicts(boundedAttempt), {
    retries: Number.POSITIVE_INFINITY,
    factor: 1,
    minTimeout: OUTCOME_RETRY_MS,
    onFailedAttempt({ error }) {
      if (error instanceof Problem) throw error;
      if (error instanceof TimeoutError) throw options.unknown(error);
      if (deadline === undefined && (!isUnavailable(error) || neverRan(error))) throw error;
      deadline ??= performance.now() + outcomeTimeoutMs;
      const isLast = performance.now() + OUTCOME_RETRY_MS > deadline;
      // p-retry would throw a TypeError as it is, but the first attempt's outcome is still unknown.
      if (isLast || error instanceof TypeError) throw options.unknown(error);
    },
  });
}

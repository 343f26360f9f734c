import { isRetryable, isUnavailable, neverRan } from "../db/errors.ts";
import { Problem } from "../problem/problem.ts";
import {
  ATTEMPT_TIMEOUT_MS,
  DB_RETRY_BASE_MS,
  DB_TRANSACTION_ATTEMPTS,
  SETTLE_RETRY_MS,
  SETTLE_TIMEOUT_MS,
} from "../shared/limits.ts";

export interface SettleOptions {
  /** The problem to throw when the outcome cannot be told. */
  readonly unknown: (cause: unknown) => Problem;
  readonly attemptTimeoutMs?: number;
  readonly settleTimeoutMs?: number;
}

const SILENT = Symbol("the attempt was not answered in time");

/** The attempt's result, or SILENT after `timeoutMs`; the attempt itself cannot be stopped. */
async function answeredWithin<T>(attempt: Promise<T>, timeoutMs: number) {
  const { promise, resolve } = Promise.withResolvers<typeof SILENT>();
  const timer = setTimeout(() => resolve(SILENT), timeoutMs);
  try {
    return await Promise.race([attempt, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs `attempt`, one transaction that has the same effect however often it is run. When the
 * connection breaks while it may have been running, it is run again until it tells what became of
 * the first: a transaction that is still open is waited for by its locks, a committed one is found.
 * When no answer is to be had, throws `unknown`; when certainly nothing was sent, the error itself.
 */
export async function settle<T>(attempt: () => Promise<T>, options: SettleOptions): Promise<T> {
  const { attemptTimeoutMs = ATTEMPT_TIMEOUT_MS, settleTimeoutMs = SETTLE_TIMEOUT_MS } = options;
  let brokenAt: number | undefined;
  for (let count = 1; ; count++) {
    const deadline = brokenAt === undefined ? undefined : brokenAt + settleTimeoutMs;
    const left = deadline === undefined ? attemptTimeoutMs : deadline - performance.now();
    try {
      const answer = await answeredWithin(attempt(), Math.max(left, 0));
      if (answer !== SILENT) return answer;
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (isRetryable(error) && count < DB_TRANSACTION_ATTEMPTS) {
        await Bun.sleep(DB_RETRY_BASE_MS * count * (1 + Math.random()));
        continue;
      }
      if (brokenAt === undefined && (!isUnavailable(error) || neverRan(error))) throw error;
      brokenAt ??= performance.now();
      if (performance.now() + SETTLE_RETRY_MS > brokenAt + settleTimeoutMs) {
        throw options.unknown(error);
      }
      await Bun.sleep(SETTLE_RETRY_MS);
      continue;
    }
    throw options.unknown(new Error(SILENT.description));
  }
}

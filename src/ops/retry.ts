import pRetry from "p-retry";

/** Pauses between attempts, in milliseconds: the first one, doubled up to the longest. */
interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Retries `work` until it succeeds. Only the first failure is reported. Every error is retried,
 * also a TypeError, which p-retry alone would treat as final.
 */
export function retryUntilSuccess<T>(
  work: () => Promise<T>,
  { firstMs, longestMs }: Backoff,
  onFirstFailure: (error: unknown) => void,
): Promise<T> {
  const attempt = (attemptNumber: number) =>
    work().catch((cause: unknown) => {
      if (attemptNumber === 1) onFirstFailure(cause);
      throw new Error("retried", { cause });
    });
  const retries = Number.POSITIVE_INFINITY;
  return pRetry(attempt, { retries, factor: 2, minTimeout: firstMs, maxTimeout: longestMs });
}

import pRetry from "p-retry";
import { WATCH_RETRY_BASE_MS, WATCH_RETRY_MAX_MS } from "../shared/limits.ts";
import type { Io } from "./io.ts";
import { notice } from "./output.ts";

/**
 * Repeats work for a watched folder, ever more slowly, while it fails for a reason that may pass, and says each time
 * in one line why. An error without such a reason is thrown.
 */
export async function untilDone(
  io: Io,
  work: () => Promise<unknown>,
  reasonOf: (error: Error) => string | undefined,
): Promise<void> {
  await pRetry(work, {
    retries: Infinity,
    minTimeout: WATCH_RETRY_BASE_MS,
    maxTimeout: WATCH_RETRY_MAX_MS,
    shouldRetry: ({ error }) => reasonOf(error) !== undefined,
    onFailedAttempt({ error, retryDelay }) {
      const reason = reasonOf(error);
      if (reason === undefined) return;
      notice(io, `${reason}; trying again in ${Math.ceil(retryDelay / 1_000)} s`);
    },
  });
}

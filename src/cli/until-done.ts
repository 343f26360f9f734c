import pRetry from "p-retry";
import { WATCH_RETRY_BASE_MS, WATCH_RETRY_MAX_MS } from "../shared/limits.ts";
import type { Io } from "./io.ts";
import { notice } from "./output.ts";

/**
 * Repeats work for a watched folder, with growing pauses, while it fails for a reason that may pass. Prints each reason
 * in one line. Throws other errors.
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

import pRetry from "p-retry";
import { EmbeddingError } from "../import/embedders/embedding-error.ts";
import { WATCH_RETRY_BASE_MS, WATCH_RETRY_MAX_MS } from "../shared/limits.ts";
import { explainEmbeddingError } from "./embedder-options.ts";
import type { Io } from "./io.ts";
import { notice } from "./output.ts";

/**
 * Repeats the import of a watched folder until its texts can be embedded, ever more slowly, and says
 * each time in one line why. Any other error is thrown.
 */
export async function untilEmbedded(io: Io, work: () => Promise<unknown>): Promise<void> {
  await pRetry(work, {
    retries: Infinity,
    minTimeout: WATCH_RETRY_BASE_MS,
    maxTimeout: WATCH_RETRY_MAX_MS,
    shouldRetry: ({ error }) => error instanceof EmbeddingError,
    onFailedAttempt({ error, retryDelay }) {
      if (!(error instanceof EmbeddingError)) return;
      const seconds = Math.ceil(retryDelay / 1_000);
      notice(io, `${explainEmbeddingError(error)}; trying again in ${seconds} s`);
    },
  });
}

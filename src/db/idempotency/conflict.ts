import { Problem } from "../../domain/problem/problem.ts";
import type { Idempotency } from "../../domain/problem/schema.ts";

const IDEMPOTENCY_RETRY_AFTER_SECONDS = 1;

type Recovery = NonNullable<Idempotency["recovery"]>;

interface ConflictOptions {
  /** The operation's id. */
  readonly operation: string;
  readonly detail: string;
  /** The time at which the state ends by itself, if known. */
  readonly expiresAt?: Date;
  readonly recovery?: Recovery;
  readonly cause?: unknown;
}

function conflict(
  state: Idempotency["state"],
  retryable: boolean,
  { operation, detail, expiresAt, recovery, cause }: ConflictOptions,
): Problem {
  const seconds = retryable ? IDEMPOTENCY_RETRY_AFTER_SECONDS : null;
  return new Problem("idempotency-conflict", {
    detail,
    idempotency: {
      state,
      operation,
      retryable,
      retry_after_seconds: seconds,
      expires_at: expiresAt?.toISOString() ?? null,
      ...(recovery === undefined ? {} : { recovery }),
    },
    headers: seconds === null ? {} : { "retry-after": String(seconds) },
    cause,
  });
}

/** The first attempt is still running, in this process or another. */
export function inProgress(options: ConflictOptions): Problem {
  return conflict("in_progress", true, options);
}

/** The key was used with other contents, which is permanent. */
export function payloadMismatch(options: ConflictOptions): Problem {
  return conflict("payload_mismatch", false, options);
}

/** The outcome of the attempt is unknown. A retry finds out. */
export function outcomeUnknown(options: ConflictOptions): Problem {
  return conflict("outcome_unknown", true, options);
}

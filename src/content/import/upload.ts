import pTimeout from "p-timeout";
import { BODY_READ_TIMEOUT_MS, IMPORT_PACE_BYTES } from "../../domain/limits.ts";
import { Problem } from "../../domain/problem/problem.ts";

/** Maximum time to wait for the upload of an import, without the time that the import takes. */
const IMPORT_UPLOAD_TIMEOUT_MS = 3_600_000;

/** The rest of the body is not read, so the connection cannot be used again. */
const CLOSE = { connection: "close" };

const timeout = () => new Problem("request-timeout", { headers: CLOSE });

/** The problem of a body that is too large. */
export function tooLarge(maxBytes: number): Problem {
  return new Problem("payload-too-large", {
    detail: `The body of an import must have at most ${maxBytes} bytes.`,
    headers: CLOSE,
  });
}

interface UploadBounds {
  readonly maxBytes: number;
  /** Time for every IMPORT_PACE_BYTES to arrive. */
  readonly paceMs?: number;
  readonly totalMs?: number;
}

/**
 * The pieces of a body. Only the time of waiting for the client counts against the limits, not that of the import.
 * Throws `payload-too-large`, `request-timeout`, and `validation-failed` when the client has gone away.
 */
export async function* readUpload(
  body: ReadableStream<Uint8Array>,
  { maxBytes, paceMs = BODY_READ_TIMEOUT_MS, totalMs = IMPORT_UPLOAD_TIMEOUT_MS }: UploadBounds,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  let totalLeft = totalMs;
  let pace = { left: paceMs, bytes: 0 };
  try {
    for (;;) {
      const startedAt = performance.now();
      const milliseconds = Math.min(pace.left, totalLeft);
      // A piece that arrived while the thread was busy may have used up more than the time that was left.
      if (milliseconds <= 0) throw timeout();
      const { done, value } = await pTimeout(reader.read(), { milliseconds, message: timeout() });
      if (done) return;
      bytes += value.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      const waited = performance.now() - startedAt;
      totalLeft -= waited;
      pace = { left: pace.left - waited, bytes: pace.bytes + value.byteLength };
      if (pace.bytes >= IMPORT_PACE_BYTES) pace = { left: paceMs, bytes: 0 };
      yield value;
    }
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem("validation-failed", { detail: "The body could not be read.", cause });
  } finally {
    void reader.cancel().catch(() => {});
  }
}

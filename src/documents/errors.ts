import { isEmbedderMismatch } from "../db/errors.ts";

/** SQLSTATE classes of errors that a record causes: bad data, violated constraints, limits. */
const DATA_ERROR_STATES = /^(22|23|54)/;

/** The reason why one record is rejected. The import goes on with the next record. */
export class RecordError extends Error {
  override name = "RecordError";
}

/** The reason why an import cannot start or go on. The message is meant for the user who started it. */
export class ImportError extends Error {
  override name = "ImportError";
}

/** Why the record is rejected, or undefined if the error is not caused by the record. */
export function rejectionReason(error: unknown): string | undefined {
  if (error instanceof RecordError) return error.message;
  const { code, message } = error as { code?: unknown; message?: string };
  if (typeof code !== "string" || code.length !== 5) return undefined;
  if (isEmbedderMismatch(error)) return message;
  return DATA_ERROR_STATES.test(code) ? `PostgreSQL rejects it: ${message}` : undefined;
}

/** Explains why a release cannot be filled. Always throws. */
export function explainFrozen(error: unknown): never {
  if ((error as { constraint_name?: string }).constraint_name !== "release_frozen") throw error;
  throw new ImportError(
    "another import froze a release that this one was filling: run this import again",
  );
}

/** Why one record is rejected. The import goes on with the next record. */
export class RecordError extends Error {
  override name = "RecordError";
}

/** The only project that an import may write to is gone, or is being deleted. */
export class TargetGone extends Error {
  override name = "TargetGone";
}

/** Why an import cannot start or go on. The message is meant for the person who started it. */
export class ImportError extends Error {
  override name = "ImportError";
}

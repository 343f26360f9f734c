/** Why one record is rejected. The import goes on with the next record. */
export class RecordError extends Error {
  override name = "RecordError";
}

/** The only project that an import may write to is gone, or is being deleted. */
export class TargetGone extends Error {
  override name = "TargetGone";
}

/** The caller of an import has lost the right to write to its project. */
export class RightLost extends Error {
  override name = "RightLost";
}

/** Why an import cannot start or go on. The message is meant for the person who started it. */
export class ImportError extends Error {
  override name = "ImportError";
}

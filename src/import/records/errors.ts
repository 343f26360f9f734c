/** The reason why one record is rejected. The import goes on with the next record. */
export class RecordError extends Error {
  override name = "RecordError";
}

/** The reason why an import cannot start or go on. The message is meant for the user who started it. */
export class ImportError extends Error {
  override name = "ImportError";
}

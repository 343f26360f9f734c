/** Why one record is rejected. The import goes on with the next record. */
export class RecordError extends Error {
  override name = "RecordError";
}

/** Why an import cannot start or go on. The message is meant for the person who started it. */
export class ImportError extends Error {
  override name = "ImportError";
}

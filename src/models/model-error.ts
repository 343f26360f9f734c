/** A model cannot be used; the message says what to do. */
export class ModelError extends Error {
  override name = "ModelError";
}

/** A model cannot be used. The message names the remedy. */
export class ModelError extends Error {
  override name = "ModelError";
}

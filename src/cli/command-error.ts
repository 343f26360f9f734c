/** A failure whose message tells the user everything needed to fix it, without a stack trace. */
export class CommandError extends Error {
  override name = "CommandError";
}

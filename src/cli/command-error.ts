/** A failure that a person can act on: its message is all that they are shown. */
export class CommandError extends Error {
  override name = "CommandError";
}

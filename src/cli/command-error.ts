/** A failure whose message tells the user everything needed to fix it, without a stack trace. */
export class CommandError extends Error {
  override name = "CommandError";
}

/** A failure that the command has reported itself. */
export class ReportedError extends Error {
  override name = "ReportedError";
}

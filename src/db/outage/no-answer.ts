/**
 * The database did not answer in time. `NEVER_SENT` when the statement certainly did not reach the
 * server; after `NO_ANSWER` a write may have taken effect.
 */
export class NoAnswer extends Error {
  constructor(readonly code: "NO_ANSWER" | "NEVER_SENT") {
    super(
      code === "NO_ANSWER"
        ? "the database did not answer in time"
        : "the statement was not sent, because the database does not answer",
    );
    this.name = "NoAnswer";
  }
}

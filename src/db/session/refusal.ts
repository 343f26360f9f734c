/** The database cannot be used as it is. The message is one line and ends with the remedy. */
export class DatabaseRefusal extends Error {
  override readonly name = "DatabaseRefusal";

  constructor(
    readonly found: string,
    readonly remedy: string,
  ) {
    super(`${found}: ${remedy}`);
  }
}

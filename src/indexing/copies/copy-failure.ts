/** `unavailable`: the shared place does not answer or refuses. `damaged`: what it holds is not usable. */
type FailureKind = "unavailable" | "damaged";

/**
 * Why a copy failed. Its message never has an address or a header: addresses of object stores are signed, and
 * readers of the log could use them.
 */
export class CopyFailure extends Error {
  override readonly name = "CopyFailure";
  constructor(
    readonly kind: FailureKind,
    reason: string,
  ) {
    super(reason);
  }
}

/** The code or the name of an error, which names no address. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "an unknown error";
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : error.name;
}

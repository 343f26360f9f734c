import type { components } from "./types.ts";

export type Problem = components["schemas"]["Problem"];

/** An answer of the service that is not a success, with its problem document. */
export class TesseraError extends Error {
  override readonly name = "TesseraError";

  constructor(
    readonly status: number,
    readonly problem: Problem,
    /** The wait that the service asks for before a retry, in milliseconds. */
    readonly retryAfterMs: number | undefined,
  ) {
    super(problem.detail ?? problem.title);
  }

  /** The problem's type, such as `project-not-found`. */
  get slug(): string {
    return this.problem.slug ?? "";
  }

  /** True when the service has not carried out the request, or says that it may be sent again. */
  get isRetryable(): boolean {
    if (this.slug === "overloaded" || this.slug === "rate-limited") return true;
    return this.problem.idempotency?.retryable === true;
  }
}

/** The error of a response, also of one that a proxy made without a problem document. */
export async function errorOf(response: Response): Promise<TesseraError> {
  const { status, statusText, headers } = response;
  const text = await response.text();
  const isProblem = headers.get("content-type")?.startsWith("application/problem+json");
  const plain = { type: "about:blank", title: statusText || `Status ${status}`, status };
  const problem = isProblem ? (JSON.parse(text) as Problem) : plain;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return new TesseraError(status, problem, seconds >= 0 ? seconds * 1_000 : undefined);
}

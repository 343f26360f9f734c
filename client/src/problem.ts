import type { components } from "./types.ts";

/** Several times the longest text of a file. */
const ANSWER_MAX_BYTES = 268_435_456;
const LOCATION_MAX_CHARS = 200;

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

/** The text of a body. Throws a TesseraError when no answer of the service is as long. */
async function textOf({ body, status }: Response): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
    bytes += piece.value.byteLength;
    if (bytes > ANSWER_MAX_BYTES) {
      await reader?.cancel();
      const title = "The answer is too long to be of this service";
      throw new TesseraError(status, { type: "about:blank", title, status }, undefined);
    }
    text += decoder.decode(piece.value, { stream: true });
  }
  return text + decoder.decode();
}

/** The value of a body of JSON; undefined where it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isProblem(value: unknown): value is Problem {
  if (typeof value !== "object" || value === null) return false;
  const { title, detail = "" } = value as { title?: unknown; detail?: unknown };
  return typeof title === "string" && typeof detail === "string";
}

/** The body of a successful answer; undefined when there is none. */
export async function bodyOf(response: Response): Promise<unknown> {
  const text = await textOf(response);
  if (text === "") return undefined;
  const value = parsed(text);
  if (value !== undefined) return value;
  const { status } = response;
  const title = "The answer is not JSON, so it is not of this service";
  throw new TesseraError(status, { type: "about:blank", title, status }, undefined);
}

/** What is said of a response without a problem document. */
function titleOf({ status, statusText, type, headers }: Response): string {
  // Browsers hide the status of a redirect.
  const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400);
  if (!isRedirect) return statusText || `Status ${status}`;
  const target = headers.get("location");
  const where = target === null ? "another address" : target.slice(0, LOCATION_MAX_CHARS);
  return `The service redirects to ${where}, which is not followed`;
}

/** The error of a response, also of one that a proxy made without a problem document. */
export async function errorOf(response: Response): Promise<TesseraError> {
  const { status, headers } = response;
  const isDocument = headers.get("content-type")?.startsWith("application/problem+json");
  const value = isDocument ? parsed(await textOf(response)) : undefined;
  const plain = { type: "about:blank", title: titleOf(response), status };
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  const retryAfterMs = seconds >= 0 ? seconds * 1_000 : undefined;
  return new TesseraError(status, isProblem(value) ? value : plain, retryAfterMs);
}

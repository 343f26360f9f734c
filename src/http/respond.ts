import type { OwnedBytes } from "../../native/owned-bytes.ts";
import { databaseProblem } from "../db/errors.ts";
import { OVERLOADED, Problem, problemBody } from "../domain/problem/problem.ts";
import type { Log } from "../ops/observability/log.ts";
import { LogLimiter } from "../ops/observability/log-limiter.ts";
import { responseOf } from "./load/large-answers.ts";

const REFUSAL_LOG_INTERVAL_MS = 1_000;

export const JSON_TYPE = "application/json";
/** No cache may keep an answer. */
export const NO_STORE = "no-store";
export const PROBLEM_TYPE = "application/problem+json";

/** Private caches must revalidate before every use; shared caches must not store the answer. */
export const REVALIDATE = "private, no-cache";
/** Two 64-bit hashes with different seeds, so that two texts never share a tag by chance. */
const SEEDS = [0n, 0x9e37_79b9_7f4a_7c15n] as const;
const TAGS = /(?:W\/)?("[^"]*")/g;

/** A response whose body is JSON text already. */
export function jsonText(
  text: string | OwnedBytes,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): Response {
  return responseOf(text, { status, headers: { "content-type": JSON_TYPE, ...headers } });
}

/** A JSON response. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return jsonText(JSON.stringify(value), headers, status);
}

/** A strong entity tag of a representation: equal tags mean equal bytes, on every node. */
export function entityTag(text: string | Uint8Array<ArrayBuffer>): string {
  const [left, right] = SEEDS.map((seed) => Bun.hash.xxHash3(text, seed).toString(36));
  return `"${left}-${right}"`;
}

/** True when an If-None-Match header contains the tag, or is `*`. */
export function isCurrent(ifNoneMatch: string | null, tag: string): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch.trim() === "*") return true;
  for (const match of ifNoneMatch.matchAll(TAGS)) {
    // RFC 9110 requires the weak comparison here, which ignores the prefix W/.
    if (match[1] === tag) return true;
  }
  return false;
}

/**
 * True when an If-Match header allows a change of the resource with this tag; undefined if it does not exist.
 * RFC 9110 requires the strong comparison here, so a weak tag matches nothing.
 */
export function mayChange(ifMatch: string | null, tag: string | undefined): boolean {
  if (ifMatch === null) return true;
  if (tag === undefined) return false;
  return ifMatch.trim() === "*" || ifMatch.split(",").some((given) => given.trim() === tag);
}

/** The answer to a caller whose copy has the tag among these headers; undefined for any other caller. */
export function notModified(
  request: Request,
  headers: Readonly<Record<string, string>> & { readonly etag: string },
): Response | undefined {
  const current = isCurrent(request.headers.get("if-none-match"), headers.etag);
  return current ? new Response(null, { status: 304, headers }) : undefined;
}

/** A response with a text, JSON by default, or 304 when the caller's copy is current. */
export function conditionalText(
  request: Request,
  text: string,
  type: Readonly<Record<string, string>> = { "content-type": JSON_TYPE },
): Response {
  const headers = { etag: entityTag(text), "cache-control": REVALIDATE };
  return notModified(request, headers) ?? responseOf(text, { headers: { ...headers, ...type } });
}

/** The problem that any thrown value means to the caller. The cause is kept for the log. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return databaseProblem(error) ?? new Problem("internal-error", { cause: error });
}

/** The headers of the problem's type and of this occurrence. */
export function problemHeaders(problem: Problem, requestId: string): Record<string, string> {
  const retry = problem.type.retryAfterSeconds;
  return {
    "content-type": PROBLEM_TYPE,
    "x-request-id": requestId,
    "cache-control": NO_STORE,
    "x-content-type-options": "nosniff",
    ...(retry === undefined ? {} : { "retry-after": String(retry) }),
    ...(problem.slug === "unauthorized"
      ? { "www-authenticate": 'Bearer realm="tessera", ApiKey realm="tessera"' }
      : {}),
    ...problem.options.headers,
  };
}

interface ProblemContext {
  readonly baseUrl: string;
  readonly requestId: string;
  readonly log: Log;
  /** Adds members to the body, for operations with an extended problem document. */
  readonly extend?: ((problem: Problem) => Record<string, unknown>) | undefined;
}

const outages = new LogLimiter();
const refusals = new LogLimiter(REFUSAL_LOG_INTERVAL_MS);

/**
 * An outage fails every request for the same reason, which is logged once in a while. Under overload most requests are
 * refused: a sample is logged, without a stack.
 */
function logProblem(problem: Problem, { requestId, log }: ProblemContext): void {
  const { slug, message } = problem;
  if (slug === "overloaded") {
    refusals.limited(slug, (suppressed) =>
      log.warn({ requestId, slug, suppressed }, OVERLOADED.message),
    );
    return;
  }
  const fields = { requestId, slug, err: problem.options.cause ?? problem };
  if (slug === "dependency-unavailable" || slug === "index-behind") {
    outages.limited(message, (suppressed) => {
      log.error(suppressed > 0 ? { ...fields, suppressed } : fields, message);
    });
  } else {
    log.error(fields, message);
  }
}

/** Answers a thrown value with its problem document, and logs the cause of a 5xx. */
export function problemResponse(error: unknown, context: ProblemContext): Response {
  const problem = toProblem(error);
  if (problem.type.status >= 500) logProblem(problem, context);
  const body = problemBody(problem, context.baseUrl, context.requestId);
  return new Response(JSON.stringify({ ...body, ...context.extend?.(problem) }), {
    status: problem.type.status,
    headers: problemHeaders(problem, context.requestId),
  });
}

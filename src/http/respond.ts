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

/** A response whose body is JSON text already. */
export function jsonText(
  text: string | OwnedBytes,
  headers: Record<string, string> = {},
): Response {
  return responseOf(text, { headers: { "content-type": JSON_TYPE, ...headers } });
}

/** A JSON response. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return responseOf(JSON.stringify(value), {
    status,
    headers: { "content-type": JSON_TYPE, ...headers },
  });
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

/** Under overload most requests are refused: a sample is logged, without a stack. */
export function logRefusal(log: Log, requestId: string): void {
  const { slug, message } = OVERLOADED;
  refusals.limited(slug, (suppressed) => log.warn({ requestId, slug, suppressed }, message));
}

/** An outage fails every request for the same reason, which is logged once in a while. */
function logProblem(problem: Problem, { requestId, log }: ProblemContext): void {
  const fields = { requestId, slug: problem.slug, err: problem.options.cause ?? problem };
  if (problem.slug === "overloaded") {
    logRefusal(log, requestId);
  } else if (problem.slug === "dependency-unavailable" || problem.slug === "index-behind") {
    outages.limited(problem.message, (suppressed) => {
      log.error(suppressed > 0 ? { ...fields, suppressed } : fields, problem.message);
    });
  } else {
    log.error(fields, problem.message);
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

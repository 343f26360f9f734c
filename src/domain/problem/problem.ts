import { PROBLEM_DETAIL_MAX_CHARS, PROBLEM_MAX_FIELD_ERRORS } from "../limits.ts";
import { CATALOGUE, type ErrorType, problemCode, type Slug } from "./catalogue.ts";
import type { FieldError, Idempotency, ProblemBody } from "./schema.ts";

export interface ProblemOptions {
  /** The public explanation of this occurrence; the catalogue's detail by default. */
  detail?: string;
  errors?: FieldError[];
  idempotency?: Idempotency;
  headers?: Record<string, string>;
  /** The internal cause, which is logged and never sent. */
  cause?: unknown;
}

/** An error of a type in the catalogue. Throw it anywhere below a route. */
export class Problem extends Error {
  readonly slug: Slug;
  readonly options: ProblemOptions;

  constructor(slug: Slug, options: ProblemOptions = {}) {
    super(options.detail ?? CATALOGUE[slug].detail, { cause: options.cause });
    this.name = "Problem";
    this.slug = slug;
    this.options = options;
  }

  get type(): ErrorType {
    return CATALOGUE[this.slug];
  }
}

/** One instance for every refused request. It has no details, and a new one would capture a stack. */
export const OVERLOADED: Problem = new Problem("overloaded");

/** A `validation-failed` problem. It lists at most PROBLEM_MAX_FIELD_ERRORS invalid fields. */
export function invalid(errors: FieldError[], detail?: string): Problem {
  const listed = errors.slice(0, PROBLEM_MAX_FIELD_ERRORS);
  const first = listed[0];
  const sentence = first ? `${first.field || "body"}: ${first.message}` : undefined;
  const text = detail ?? sentence;
  return new Problem("validation-failed", {
    errors: listed,
    ...(text === undefined ? {} : { detail: text }),
  });
}

/** The JSON body of a problem for one request. */
export function problemBody(problem: Problem, baseUrl: string, requestId: string): ProblemBody {
  const { slug, type, options } = problem;
  return {
    type: `${baseUrl}/errors/${slug}`,
    title: type.title,
    status: type.status,
    code: problemCode(slug),
    detail: problem.message.slice(0, PROBLEM_DETAIL_MAX_CHARS),
    instance: `urn:request:${requestId}`,
    slug,
    category: type.category,
    suggestion: type.suggestion,
    ...(options.errors ? { errors: options.errors } : {}),
    ...(options.idempotency ? { idempotency: options.idempotency } : {}),
  };
}

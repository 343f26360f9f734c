import type { Slug } from "./catalogue.ts";
import { Problem, type ProblemOptions } from "./problem.ts";

/** A problem as a thread posts it to its owner. */
export interface PostedProblem {
  readonly problem: Slug;
  readonly options: ProblemOptions;
}

export function postedProblem({ slug, message, options }: Problem): PostedProblem {
  const { cause, ...rest } = options;
  // Anything may be a cause, and only an error is sure to be cloned.
  const error = cause instanceof Error ? cause : new Error(String(cause));
  return {
    problem: slug,
    options: { ...rest, detail: message, ...(cause === undefined ? {} : { cause: error }) },
  };
}

export function receivedProblem({ problem, options }: PostedProblem): Problem {
  return new Problem(problem, options);
}

import {
  DEPENDENCY_RETRY_AFTER_SECONDS,
  SEARCH_LOAD_TIMEOUT_MS,
  SEARCH_SCOPE_TIMEOUT_MS,
} from "../domain/limits.ts";
import { Problem } from "../domain/problem/problem.ts";
import type { Scope } from "../domain/scope.ts";

/** Brings projects into memory and keeps them there while they are used. */
export interface ProjectLoader {
  /** True when the project's indexes are in memory and up to date. */
  isLoaded(projectId: string): boolean;
  /** Notes that the scope was searched, which keeps its project in memory. */
  used(scope: Scope): void;
  /**
   * Resolves with false for an unknown scope, and with undefined when loading takes longer than `timeoutMs`. Throws
   * `overloaded` when too many loads of the scope's tenant wait.
   */
  ensureWithin(scope: Scope, timeoutMs: number): Promise<boolean | undefined>;
}

/**
 * Waits until the scope is in memory, then runs `attempt`, which returns undefined when the project
 * was evicted in between; then it waits again. Throws `environment-not-found`, `release-not-found`,
 * `overloaded` when too many loads of the scope's tenant wait, or `dependency-unavailable` after
 * SEARCH_LOAD_TIMEOUT_MS. A scope of a loaded project is new: a large import has created it, and is not
 * answered yet. It is waited for until SEARCH_SCOPE_TIMEOUT_MS.
 */
export async function whenLoaded<T>(
  loader: ProjectLoader,
  scope: Scope,
  attempt: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const isNew = loader.isLoaded(scope.projectId);
  const timeoutMs = isNew ? SEARCH_SCOPE_TIMEOUT_MS : SEARCH_LOAD_TIMEOUT_MS;
  const deadline = performance.now() + timeoutMs;
  for (let left: number = timeoutMs; left > 0; left = deadline - performance.now()) {
    const found = await loader.ensureWithin(scope, left);
    if (found === undefined) break;
    if (!found) throw new Problem(`${scope.kind}-not-found`);
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new Problem("dependency-unavailable", {
    detail: `The ${isNew ? scope.kind : "project"}'s index is still being ${isNew ? "built" : "loaded"}.`,
    headers: { "retry-after": String(DEPENDENCY_RETRY_AFTER_SECONDS) },
  });
}

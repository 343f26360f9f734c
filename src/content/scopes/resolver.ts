import type { Principal } from "../../auth/principal.ts";
import type { Sql } from "../../db/client.ts";
import { isOutage } from "../../db/errors.ts";
import { isStorable } from "../../domain/formats.ts";
import { REFERENCE_MAX_CHARS } from "../../domain/limits.ts";
import { Problem } from "../../domain/problem/problem.ts";
import type { Scope, ScopeKind } from "../../domain/scope.ts";
import { type CacheCounts, TtlCache } from "../../ops/ttl-cache.ts";
import { readScope, type ScopeName } from "./queries.ts";

/** How a caller names a scope: a project by id or slug, and an environment or release in it. */
export type ScopeReference = { readonly project: string } & ScopeName;

/** The project exists, and the environment or release does not. */
export class ScopeNotFound extends Problem {
  constructor(
    readonly projectId: string,
    kind: ScopeKind,
  ) {
    super(`${kind}-not-found`);
  }
}

/** Text that can be stored, of a length that a name can have. */
function isPossible(text: string): boolean {
  return text.length <= REFERENCE_MAX_CHARS && isStorable(text);
}

/** An impossible name becomes "", so that a missing project is still reported before the name. */
function possible(target: ScopeName): ScopeName {
  if (target.kind === "default") return { kind: "default" };
  return { kind: target.kind, name: isPossible(target.name) ? target.name : "" };
}

async function loadScope(
  sql: Sql,
  principal: Principal,
  project: string,
  target: ScopeName,
): Promise<Scope> {
  const row = await readScope(sql, principal, project, target);
  if (row === undefined) throw new Problem("project-not-found");
  const { project_id: projectId, scope_id: id, kind, frozen } = row;
  const { has_fixed_embeddings: hasFixedEmbeddings } = row;
  if (id === null) throw new ScopeNotFound(projectId, kind);
  return { tenant: principal.userId, projectId, id, kind, frozen, hasFixedEmbeddings };
}

/**
 * The current scope, for operations that are less frequent than searches. It includes all changes that were answered.
 * Throws `project-not-found`, `environment-not-found` or `release-not-found`.
 */
export async function currentScope(
  sql: Sql,
  principal: Principal,
  reference: ScopeReference,
): Promise<Scope> {
  if (!isPossible(reference.project)) throw new Problem("project-not-found");
  return await loadScope(sql, principal, reference.project, possible(reference));
}

/**
 * Finds the scopes that callers name. A scope is cached for less than a second, per caller, so one
 * caller's access never serves another. A missing scope is not cached.
 */
export class ScopeResolver {
  readonly #cache: TtlCache<Scope>;

  constructor(
    private readonly sql: Sql,
    counts: CacheCounts = { hits: 0, misses: 0 },
  ) {
    this.#cache = new TtlCache({ isOutage, counts });
  }

  /**
   * Throws `project-not-found`, `environment-not-found` or `release-not-found`.
   *
   * @param readYourWrites true if the request must see all changes that were committed before it, on any server
   */
  resolve(
    principal: Principal,
    scopeRef: ScopeReference,
    readYourWrites = false,
  ): Scope | Promise<Scope> {
    const { project } = scopeRef;
    if (!isPossible(project)) throw new Problem("project-not-found");
    const target = possible(scopeRef);
    if (readYourWrites) return loadScope(this.sql, principal, project, target);
    const name = target.kind === "default" ? "" : target.name;
    // NUL separates: neither ids nor the checked texts contain it.
    const key = [principal.userId, principal.projectId ?? "", target.kind, project, name];
    return this.#cache.get(key.join("\0"), () => loadScope(this.sql, principal, project, target));
  }

  /** The scope, or the error that it is missing. Throws `project-not-found`. */
  async find(
    principal: Principal,
    scopeRef: ScopeReference,
    readYourWrites = false,
  ): Promise<Scope | ScopeNotFound> {
    try {
      return await this.resolve(principal, scopeRef, readYourWrites);
    } catch (error) {
      if (error instanceof ScopeNotFound) return error;
      throw error;
    }
  }

  clear(): void {
    this.#cache.clear();
  }

  expire(): void {
    this.#cache.expire();
  }
}

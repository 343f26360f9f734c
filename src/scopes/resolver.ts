import type { Principal } from "../auth/principal.ts";
import { referenceId } from "../auth/project-access.ts";
import type { Sql } from "../db/client.ts";
import { Problem } from "../problem/problem.ts";
import type { SearchScope } from "../search/engine.ts";
import { isStorable, isUuid } from "../shared/formats.ts";
import { REFERENCE_MAX_CHARS } from "../shared/limits.ts";
import { TimedCache } from "../shared/timed-cache.ts";

/** How a caller names a scope: a project's id or slug, and an environment or a release in it. */
export interface ScopeReference {
  readonly kind: "environment" | "release";
  readonly project: string;
  readonly name: string;
}

interface ScopeRow {
  project_id: string;
  scope_id: string | null;
  kind: "environment" | "release";
  frozen: boolean;
}

/** Text that PostgreSQL takes, of a length that any name can have. */
function isPossible(text: string): boolean {
  return text.length <= REFERENCE_MAX_CHARS && isStorable(text);
}

function notFound(kind: ScopeReference["kind"]): Problem {
  return new Problem(kind === "environment" ? "environment-not-found" : "release-not-found");
}

async function readScope(
  sql: Sql,
  principal: Principal,
  { kind, project, name }: ScopeReference,
): Promise<SearchScope> {
  const projectId = referenceId(project);
  const nameId = isUuid(name) ? name.toLowerCase() : null;
  // Membership and the key's binding decide first; an id wins over a name that looks like one.
  const found = sql`
    found AS (
      SELECT p.id FROM projects p
      JOIN memberships m ON m.project_id = p.id AND m.user_id = ${principal.userId}
      WHERE (p.id = ${projectId} OR p.slug = ${project})
        AND (${principal.projectId}::uuid IS NULL OR p.id = ${principal.projectId})
      ORDER BY (p.id = ${projectId}) DESC NULLS LAST LIMIT 1)`;
  const [row] = await (kind === "environment"
    ? sql<ScopeRow[]>`
        WITH ${found}
        SELECT found.id AS project_id, coalesce(e.active_release_id, e.id) AS scope_id,
          CASE WHEN e.active_release_id IS NULL THEN 'environment' ELSE 'release' END AS kind,
          false AS frozen
        FROM found LEFT JOIN environments e ON e.project_id = found.id AND e.name = ${name}`
    : sql<ScopeRow[]>`
        WITH ${found}
        SELECT found.id AS project_id, r.id AS scope_id, 'release' AS kind,
          r.frozen_at IS NOT NULL AS frozen
        FROM found LEFT JOIN releases r
          ON r.project_id = found.id AND (r.name = ${name} OR r.id = ${nameId})
        ORDER BY (r.id = ${nameId}) DESC NULLS LAST LIMIT 1`);
  if (row === undefined) throw new Problem("project-not-found");
  if (row.scope_id === null) throw notFound(kind);
  return { projectId: row.project_id, id: row.scope_id, kind: row.kind, frozen: row.frozen };
}

/**
 * Finds out what a caller's reference means, and remembers it for less than a second. What is
 * remembered is the caller's own right to it, so nothing can leak to anybody else.
 */
export class ScopeResolver {
  readonly cache = new TimedCache<SearchScope>();

  constructor(private readonly sql: Sql) {}

  /** Throws `project-not-found`, `environment-not-found` or `release-not-found`. */
  resolve(principal: Principal, reference: ScopeReference): SearchScope | Promise<SearchScope> {
    const { kind, project, name } = reference;
    if (!isPossible(project)) throw new Problem("project-not-found");
    // Whether the project exists must not show in the answer about an impossible name.
    const possible = isPossible(name) ? name : "";
    // NUL separates: neither ids nor the checked texts contain it.
    const key = [principal.userId, principal.projectId ?? "", kind, project, possible].join("\0");
    return this.cache.get(key, () =>
      readScope(this.sql, principal, { kind, project, name: possible }),
    );
  }
}

import type { Principal } from "../../auth/principal.ts";
import { referenceId } from "../../auth/project-access.ts";
import type { Queryable } from "../../db/client.ts";
import type { ScopeKind } from "../../engine/requests/scope.ts";
import { isUuid } from "../../shared/formats.ts";

/**
 * What a caller may name in a project: an environment by name, a release by name or id, or the
 * default, which is the environment `production`, else the first environment by name.
 */
export type ScopeName =
  | { readonly kind: ScopeKind; readonly name: string }
  | { readonly kind: "default" };

interface ScopeRow {
  readonly project_id: string;
  /** Null when the project has no such scope. */
  readonly scope_id: string | null;
  readonly kind: ScopeKind;
  readonly frozen: boolean;
  readonly has_fixed_embeddings: boolean;
}

/** Reads a project (by id or slug) and a scope of it; undefined when the project is not found. */
export async function readScope(
  sql: Queryable,
  principal: Principal,
  project: string,
  target: ScopeName,
): Promise<ScopeRow | undefined> {
  const projectId = referenceId(project);
  // Membership and the key's binding decide first. An id takes precedence over an equal slug.
  const found = sql`
    found AS (
      SELECT p.id, p.embedder FROM projects p
      JOIN memberships m ON m.project_id = p.id AND m.user_id = ${principal.userId}
      WHERE (p.id = ${projectId} OR p.slug = ${project})
        AND (${principal.projectId}::uuid IS NULL OR p.id = ${principal.projectId})
      ORDER BY (p.id = ${projectId}) DESC NULLS LAST LIMIT 1)`;
  if (target.kind === "release") {
    const releaseId = isUuid(target.name) ? target.name.toLowerCase() : null;
    const [row] = await sql<ScopeRow[]>`
      WITH ${found}
      SELECT found.id AS project_id, r.id AS scope_id, 'release' AS kind,
        r.frozen_at IS NOT NULL AS frozen,
        r.frozen_at IS NOT NULL AND found.embedder IS NULL AS has_fixed_embeddings
      FROM found LEFT JOIN releases r
        ON r.project_id = found.id AND (r.name = ${target.name} OR r.id = ${releaseId})
      ORDER BY (r.id = ${releaseId}) DESC NULLS LAST LIMIT 1`;
    return row;
  }
  const named = target.kind === "default" ? sql`` : sql`AND e.name = ${target.name}`;
  // An environment with an active release serves that release.
  const [row] = await sql<ScopeRow[]>`
    WITH ${found}
    SELECT found.id AS project_id, coalesce(e.active_release_id, e.id) AS scope_id,
      CASE WHEN e.active_release_id IS NULL THEN 'environment' ELSE 'release' END AS kind,
      false AS frozen, false AS has_fixed_embeddings
    FROM found LEFT JOIN environments e ON e.project_id = found.id ${named}
    ORDER BY (e.name = 'production') DESC, e.name LIMIT 1`;
  return row;
}

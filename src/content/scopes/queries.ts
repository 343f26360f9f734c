import type { PendingQuery, Row } from "postgres";
import type { Principal } from "../../auth/principal.ts";
import { joinMembership } from "../../auth/project-access.ts";
import { readNamedProject } from "../../auth/project-reference.ts";
import type { Queryable } from "../../db/client.ts";
import { namings } from "../../domain/reference.ts";
import type { ScopeKind } from "../../domain/scope.ts";

/**
 * The names of scopes in a project: an environment by name, a release by name or id, or the default. The default is the
 * environment `production`, else the first environment by name.
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
  /** False when the caller has no access to the project. */
  readonly joined: boolean;
}

/** The project `p` that a reference names, for the caller. */
function projectOf(sql: Queryable, principal: Principal, isNamed: PendingQuery<Row[]>) {
  return sql`(SELECT p.id, p.embedder, m.role IS NOT NULL AS joined
    FROM projects p ${joinMembership(sql, principal)} WHERE ${isNamed})`;
}

/** Reads a project and a scope of it; undefined when the caller has access to no such project. */
export async function readScope(
  sql: Queryable,
  principal: Principal,
  project: string,
  target: ScopeName,
): Promise<ScopeRow | undefined> {
  const row =
    target.kind === "release"
      ? await readRelease(sql, principal, project, target.name)
      : await readEnvironment(sql, principal, project, target);
  return row?.joined ? row : undefined;
}

/** A release is named as a project is: by its id, or else by its name. */
async function readRelease(
  sql: Queryable,
  principal: Principal,
  project: string,
  release: string,
): Promise<ScopeRow | undefined> {
  let row: ScopeRow | undefined;
  for (const naming of namings(release)) {
    const isRelease = "id" in naming ? sql`r.id = ${naming.id}` : sql`r.name = ${naming.name}`;
    row = await readNamedProject(
      sql,
      project,
      (isNamed) => sql<ScopeRow[]>`
        SELECT found.id AS project_id, found.joined, r.id AS scope_id, 'release' AS kind,
          r.frozen_at IS NOT NULL AS frozen,
          r.frozen_at IS NOT NULL AND found.embedder IS NULL AS has_fixed_embeddings
        FROM ${projectOf(sql, principal, isNamed)} found
        LEFT JOIN releases r ON r.project_id = found.id AND ${isRelease}`,
    );
    if (row === undefined || row.scope_id !== null) break;
  }
  return row;
}

/** An environment with an active release serves that release. */
async function readEnvironment(
  sql: Queryable,
  principal: Principal,
  project: string,
  target: ScopeName,
): Promise<ScopeRow | undefined> {
  const isEnvironment = target.kind === "default" ? sql`true` : sql`e.name = ${target.name}`;
  return await readNamedProject(
    sql,
    project,
    (isNamed) => sql<ScopeRow[]>`
      SELECT found.id AS project_id, found.joined, coalesce(e.active_release_id, e.id) AS scope_id,
        CASE WHEN e.active_release_id IS NULL THEN 'environment' ELSE 'release' END AS kind,
        false AS frozen, false AS has_fixed_embeddings
      FROM ${projectOf(sql, principal, isNamed)} found
      LEFT JOIN environments e ON e.project_id = found.id AND ${isEnvironment}
      ORDER BY (e.name = 'production') DESC, e.name LIMIT 1`,
  );
}

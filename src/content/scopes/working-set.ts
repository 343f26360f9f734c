import type { Queryable, Transaction } from "../../db/client.ts";
import { isStorable } from "../../domain/formats.ts";
import { Problem } from "../../domain/problem/problem.ts";
import { findNamed } from "../../domain/reference.ts";
import type { ScopeKind } from "../../domain/scope.ts";

/** An environment whose working set is changed. */
export interface WorkingSet {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
  /** The name of the release that the environment serves instead; null when it serves the working set. */
  readonly serves: string | null;
}

/** The environment with this name, or the default one of the project. Throws `environment-not-found`. */
export async function findWorkingSet(
  sql: Queryable,
  projectId: string,
  name: string | undefined,
): Promise<WorkingSet> {
  if (name !== undefined && !isStorable(name)) throw new Problem("environment-not-found");
  const [row] = await sql<{ id: string; name: string; serves: string | null }[]>`
    SELECT e.id, e.name, r.name AS serves
    FROM environments e LEFT JOIN releases r ON r.id = e.active_release_id
    WHERE e.project_id = ${projectId} ${name === undefined ? sql`` : sql`AND e.name = ${name}`}
    ORDER BY (e.name = 'production') DESC, e.name LIMIT 1`;
  if (row === undefined) throw new Problem("environment-not-found");
  return { projectId, ...row };
}

/** An environment's working set, or a release. */
export interface VersionSet {
  readonly kind: ScopeKind;
  readonly id: string;
}

/** A query for the ids of the file versions of a scope. */
export function versionsOf(sql: Queryable, { kind, id }: VersionSet) {
  return kind === "environment"
    ? sql`SELECT file_version_id FROM environment_files WHERE environment_id = ${id}`
    : sql`SELECT contents_versions((SELECT contents_id FROM releases WHERE id = ${id}))`;
}

/**
 * The id of a release that is named by its id, or else by its name. The release is locked until the transaction ends,
 * against deletion or for one. Throws `release-not-found`.
 */
export async function lockRelease(
  tx: Transaction,
  projectId: string,
  reference: string,
  purpose: "keep" | "delete" = "keep",
): Promise<string> {
  if (!isStorable(reference)) throw new Problem("release-not-found");
  const lock = purpose === "keep" ? tx`FOR KEY SHARE` : tx`FOR UPDATE`;
  const found = await findNamed(reference, async (naming) => {
    const isNamed = "id" in naming ? tx`id = ${naming.id}` : tx`name = ${naming.name}`;
    const [row] = await tx<{ id: string }[]>`
      SELECT id FROM releases WHERE project_id = ${projectId} AND ${isNamed} ${lock}`;
    return row;
  });
  if (found === undefined) throw new Problem("release-not-found");
  return found.id;
}

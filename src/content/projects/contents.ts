import type { Static } from "@sinclair/typebox";
import { OPERATOR, transactionAs } from "../../auth/audit/actor.ts";
import { noteChange } from "../../auth/audit/changes.ts";
import type { Queryable, Sql } from "../../db/client.ts";
import { holdProject } from "../../db/project-lock.ts";
import { charge } from "../../db/quotas.ts";
import { AUDIT_PATHS_MAX } from "../../domain/limits.ts";
import type { PageRange } from "../../domain/page-info.ts";
import type { RowOf } from "../../domain/rows.ts";
import type { EnvironmentItem, ReleaseItem } from "./schema.ts";

export interface ListedRelease extends RowOf<Static<typeof ReleaseItem>> {
  /** When it was created, to the microsecond, with its name a place in the list. */
  readonly place: string;
}

/** The place of a release in the list of a project, which is unique. */
export type ReleasePosition = [place: string, name: string];

/** The releases of a project, newest first, or oldest first before a position. */
export async function readReleases(
  sql: Queryable,
  projectId: string,
  { after, before, limit }: PageRange<ReleasePosition>,
): Promise<ListedRelease[]> {
  const order = before === undefined ? sql`DESC` : sql`ASC`;
  // As text: a parameter that is a time would lose its microseconds.
  const at = ([place, name]: ReleasePosition) => sql`(${place}::text::timestamptz, ${name})`;
  return await sql<ListedRelease[]>`
    SELECT r.name, r.id, r.created_at, r.frozen_at, r.created_at::text AS place,
      coalesce((SELECT c.files FROM release_contents c WHERE c.id = r.contents_id), 0) AS files,
      ARRAY (SELECT e.name FROM environments e WHERE e.active_release_id = r.id ORDER BY 1)
        AS environments
    FROM releases r WHERE r.project_id = ${projectId}
      ${after === undefined ? sql`` : sql`AND (r.created_at, r.name) < ${at(after)}`}
      ${before === undefined ? sql`` : sql`AND (r.created_at, r.name) > ${at(before)}`}
    ORDER BY r.created_at ${order}, r.name ${order} LIMIT ${limit}`;
}

export type ListedEnvironment = Static<typeof EnvironmentItem>;

/** The place of an environment in the list of a project. */
export type EnvironmentPosition = [name: string];

/** The environments of a project, sorted by name, or in reverse order before a position. */
export async function listEnvironments(
  sql: Queryable,
  projectId: string,
  { before, after, limit }: PageRange<EnvironmentPosition>,
): Promise<ListedEnvironment[]> {
  return await sql<ListedEnvironment[]>`
    SELECT e.name, e.id, e.protected, r.name AS active_release,
      (SELECT count(*) FROM environment_files f WHERE f.environment_id = e.id)::integer AS files
    FROM environments e LEFT JOIN releases r ON r.id = e.active_release_id
    WHERE e.project_id = ${projectId}
      ${after === undefined ? sql`` : sql`AND e.name > ${after[0]}`}
      ${before === undefined ? sql`` : sql`AND e.name < ${before[0]}`}
    ORDER BY e.name ${before === undefined ? sql`ASC` : sql`DESC`} LIMIT ${limit}`;
}

export interface ListedFile {
  readonly path: string;
  readonly id: string;
  readonly versions: number;
  /** Chunks of the newest version. */
  readonly chunks: number;
  /** Environments whose working set has the file. */
  readonly environments: string[];
  readonly releases: number;
}

/** The files of a project, or of one working set, sorted by path. */
export async function listFiles(
  sql: Queryable,
  projectId: string,
  environment: string | null,
): Promise<ListedFile[]> {
  return await sql<ListedFile[]>`
    SELECT f.path, f.id,
      (SELECT count(*) FROM file_versions v WHERE v.file_id = f.id)::integer AS versions,
      coalesce((SELECT v.chunk_count FROM file_versions v WHERE v.file_id = f.id
        ORDER BY v.created_at DESC, v.id LIMIT 1), 0) AS chunks,
      ARRAY (SELECT e.name FROM environment_files w JOIN environments e ON e.id = w.environment_id
        WHERE w.file_id = f.id AND w.project_id = f.project_id ORDER BY 1) AS environments,
      coalesce(r.releases, 0) AS releases
    FROM files f LEFT JOIN (
      SELECT file_id, count(*)::integer AS releases FROM release_files
      WHERE project_id = ${projectId} GROUP BY file_id) r ON r.file_id = f.id
    WHERE f.project_id = ${projectId}
      AND (${environment}::text IS NULL OR EXISTS (
        SELECT FROM environment_files w JOIN environments e ON e.id = w.environment_id
        WHERE e.project_id = f.project_id AND e.name = ${environment} AND w.file_id = f.id))
    ORDER BY f.path`;
}

/** Deletes rows by a column. Returns the number of the deleted rows and their bytes. */
async function deleteRows(
  tx: Queryable,
  table: "environment_files" | "chunks" | "file_versions" | "files",
  column: "file_version_id" | "id",
  ids: readonly string[],
): Promise<{ readonly rows: number; readonly bytes: number }> {
  const [deleted] = await tx<[{ rows: number; bytes: number }]>`
    WITH deleted AS (
      DELETE FROM ${tx(table)} WHERE ${tx(column)} = ANY (${[...ids]}::uuid[]) RETURNING stored_bytes)
    SELECT count(*)::integer AS rows, coalesce(sum(stored_bytes), 0)::float8 AS bytes FROM deleted`;
  return deleted;
}

async function bytesOfReleases(tx: Queryable, projectId: string): Promise<number> {
  const [contents] = await tx<[{ bytes: number }]>`
    SELECT coalesce(sum(stored_bytes), 0)::float8 AS bytes FROM release_contents
    WHERE project_id = ${projectId}`;
  return contents.bytes;
}

/** Deletes files with all their versions, from all environments and releases. Returns their number. */
export async function purgeFiles(
  sql: Sql,
  projectId: string,
  paths: readonly string[],
): Promise<number> {
  return await transactionAs(sql, OPERATOR, async (tx) => {
    await holdProject(tx, projectId);
    // The locks keep others from adding to the files and to their versions, and from storing a release.
    const files = await tx<{ id: string }[]>`
      SELECT id FROM files WHERE project_id = ${projectId} AND path = ANY (${[...paths]})
      ORDER BY id FOR UPDATE`;
    const ids = files.map(({ id }) => id);
    const found = await tx<{ id: string }[]>`
      SELECT id FROM file_versions WHERE file_id = ANY (${ids}::uuid[]) ORDER BY id FOR UPDATE`;
    const versions = found.map(({ id }) => id);
    await tx`SELECT pg_advisory_xact_lock(7307, hashtext(${projectId}))`;
    const releases = await bytesOfReleases(tx, projectId);
    // Others may remove and embed meanwhile, and charge for that. So the deleted rows are counted.
    const places = await deleteRows(tx, "environment_files", "file_version_id", versions);
    const chunks = await deleteRows(tx, "chunks", "file_version_id", versions);
    // All versions at once, because each statement that deletes some reads the contents of all releases.
    const texts = await deleteRows(tx, "file_versions", "id", versions);
    const { rows: count, bytes } = await deleteRows(tx, "files", "id", ids);
    if (count > 0) {
      await noteChange(tx, "files.removed", projectId, {
        purged: true,
        files: count,
        paths: paths.slice(0, AUDIT_PATHS_MAX),
      });
    }
    const left = await bytesOfReleases(tx, projectId);
    await charge(tx, projectId, {
      files: -count,
      bytes: left - releases - places.bytes - chunks.bytes - texts.bytes - bytes,
      chunks: -chunks.rows,
    });
    return count;
  });
}

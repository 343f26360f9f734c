import type { Transaction } from "../../db/client.ts";
import { bytesOf, type StoredRow } from "../../db/quotas.ts";
import { type VersionSet, versionsOf } from "../scopes/working-set.ts";

/**
 * The working set or the release that an environment serves, which stays until the transaction ends. Undefined for an
 * unknown environment.
 */
export async function lockServed(
  tx: Transaction,
  projectId: string,
  environment: string,
): Promise<VersionSet | undefined> {
  const [row] = await tx<VersionSet[]>`
    SELECT coalesce(active_release_id, id) AS id,
      CASE WHEN active_release_id IS NULL THEN 'environment' ELSE 'release' END AS kind
    FROM environments WHERE project_id = ${projectId} AND name = ${environment} FOR SHARE`;
  return row;
}

/** Puts all file versions of a scope into an empty working set. Returns the bytes of its rows. */
export async function copyVersions(
  tx: Transaction,
  projectId: string,
  from: VersionSet,
  environmentId: string,
): Promise<number> {
  // A version that is deleted meanwhile is left out. Each is found by its id, however many versions the tables have.
  const rows = await tx<StoredRow[]>`
    WITH copied AS (
      INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
      SELECT ${projectId}, ${environmentId}, v.file_id, v.id FROM (${versionsOf(tx, from)}) AS s (version)
      CROSS JOIN LATERAL (
        SELECT id, file_id FROM file_versions WHERE id = s.version FOR KEY SHARE) v
      RETURNING stored_bytes)
    SELECT coalesce(sum(stored_bytes), 0)::float8 AS stored_bytes FROM copied`;
  return bytesOf(rows);
}

/** Deletes an environment with its working set. Returns their bytes; undefined if it is gone already. */
export async function removeEnvironment(tx: Transaction, id: string): Promise<number | undefined> {
  // Writers of its files wait for this row, and find that it is gone.
  const [own] = await tx<StoredRow[]>`
    SELECT stored_bytes FROM environments WHERE id = ${id} FOR UPDATE`;
  if (own === undefined) return undefined;
  const files = await tx<StoredRow[]>`
    WITH removed AS (
      DELETE FROM environment_files WHERE environment_id = ${id} RETURNING stored_bytes)
    SELECT coalesce(sum(stored_bytes), 0)::float8 AS stored_bytes FROM removed`;
  await tx`DELETE FROM environments WHERE id = ${id}`;
  return bytesOf([own, ...files]);
}

/**
 * Deletes a row of contents that belonged to a release, with all those below it that no release and no other contents
 * are made of. Returns their bytes.
 */
async function deleteUnusedContents(
  tx: Transaction,
  projectId: string,
  contentsId: string | null,
): Promise<number> {
  const rows = await tx<StoredRow[]>`
    WITH RECURSIVE unused AS (
      SELECT c.id, c.base_id FROM release_contents c
      WHERE c.project_id = ${projectId} AND c.id = ${contentsId}::bigint
        AND NOT EXISTS (SELECT FROM releases r WHERE r.project_id = c.project_id AND r.contents_id = c.id)
        AND NOT EXISTS (
          SELECT FROM release_contents d WHERE d.project_id = c.project_id AND d.base_id = c.id)
      UNION ALL
      SELECT c.id, c.base_id FROM unused u JOIN release_contents c ON c.id = u.base_id
      WHERE NOT EXISTS (SELECT FROM releases r WHERE r.project_id = c.project_id AND r.contents_id = c.id)
        AND NOT EXISTS (SELECT FROM release_contents d
          WHERE d.project_id = c.project_id AND d.base_id = c.id AND d.id <> u.id))
    DELETE FROM release_contents c USING unused u WHERE c.id = u.id RETURNING c.stored_bytes`;
  return bytesOf(rows);
}

/** Deletes a release that no environment serves, with its contents unless others are made of them. Returns their bytes. */
export async function removeRelease(
  tx: Transaction,
  projectId: string,
  id: string,
): Promise<number> {
  // A new release may be made of the same contents. Its transaction holds this lock until its end.
  await tx`SELECT pg_advisory_xact_lock(7307, hashtext(${projectId}))`;
  const [row] = await tx<[StoredRow & { contents_id: string | null }]>`
    DELETE FROM releases WHERE id = ${id} RETURNING stored_bytes, contents_id`;
  return row.stored_bytes + (await deleteUnusedContents(tx, projectId, row.contents_id));
}

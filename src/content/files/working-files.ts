import { noteChange } from "../../auth/audit/changes.ts";
import type { Queryable } from "../../db/client.ts";
import { bytesOf, Charges, charge, type StoredRow } from "../../db/quotas.ts";
import { AUDIT_PATHS_MAX } from "../../domain/limits.ts";
import { type PutVersion, putVersions } from "../import/put/versions.ts";
import type { FileVersion } from "../import/records/file-record.ts";
import type { WorkingSet } from "../scopes/working-set.ts";
import type { FileRow } from "./queries.ts";

/** A file of a working set, and the version that it has there. */
export interface WorkingFile {
  readonly fileId: string;
  readonly versionId: string;
}

/**
 * The file with this path in the working set and its version, which nobody else changes or removes before
 * this transaction ends.
 */
export async function lockFile(
  sql: Queryable,
  { projectId, id }: WorkingSet,
  path: string,
): Promise<WorkingFile | undefined> {
  const [row] = await sql<WorkingFile[]>`
    SELECT w.file_id AS "fileId", w.file_version_id AS "versionId"
    FROM files f JOIN environment_files w ON w.file_id = f.id AND w.environment_id = ${id}
    WHERE f.project_id = ${projectId} AND f.path = ${path} FOR UPDATE OF w`;
  return row;
}

/**
 * True if an import has stored a version with exactly this content, in chunks of its own. The chunks must be passages of
 * the content, or equal those that the service cuts. In a project with an embedder they must not have embeddings that a
 * client gave. Otherwise a write of a text would be answered with another client's claims about it. A version with the
 * key of a text is compared with the text when that is stored.
 */
export async function isImported(
  sql: Queryable,
  versionId: string,
  { content, chunks: cut }: Pick<FileVersion, "content" | "chunks">,
): Promise<boolean> {
  if (content === null) return false;
  const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  const [row] = await sql`
    SELECT 1 FROM file_versions v JOIN projects p ON p.id = v.project_id
    WHERE v.id = ${versionId} AND v.version_key NOT LIKE 'text:%'
      AND (p.embedder IS NULL OR v.given_embeddings IS NULL)
      AND sha256(convert_to(v.content, 'UTF8')) = decode(${hash}, 'hex')`;
  if (row === undefined) return false;
  const chunks = await sql<{ text: string; start: number }[]>`
    SELECT content AS text, start_offset AS start FROM chunks WHERE file_version_id = ${versionId}`;
  const own = new Map(cut.map((chunk) => [chunk.startOffset, chunk.content]));
  return chunks.every(
    ({ text, start }) => content.startsWith(text, start) || own.get(start) === text,
  );
}

/**
 * Stores a version of a file and puts it into the working set, unless it is there. Returns its id. Fails with a
 * conflict if another transaction has added a missing file meanwhile.
 */
export async function replaceFile(
  sql: Queryable,
  set: WorkingSet,
  record: FileVersion,
  current: WorkingFile | undefined,
): Promise<string> {
  // The text has no embeddings yet, whatever computes them.
  const toPut = { projectId: set.projectId, embedder: null, isByClient: true, record };
  const charges = new Charges();
  const [put] = await putVersions({ sql, charges }, [toPut]);
  const { fileId, versionId } = put as PutVersion;
  if (versionId === current?.versionId) return versionId;
  const replacing = sql`
    ON CONFLICT (environment_id, file_id) DO UPDATE SET file_version_id = excluded.file_version_id`;
  const rows = await sql<StoredRow[]>`
    INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
    VALUES (${set.projectId}, ${set.id}, ${fileId}, ${versionId})
    ${current === undefined ? sql`` : replacing} RETURNING stored_bytes`;
  const details = { environment: set.name, path: record.path, version: versionId };
  if (current === undefined) charges.add(set.projectId, { bytes: bytesOf(rows) });
  await noteChange(sql, "file.written", set.projectId, details);
  await charges.settle(sql);
  return versionId;
}

/** Takes files out of the working set, as far as they are in it. Releases keep them. */
export async function takeOut(
  sql: Queryable,
  set: WorkingSet,
  paths: readonly string[],
): Promise<void> {
  const rows = await sql<StoredRow[]>`
    DELETE FROM environment_files w USING files f
    WHERE f.project_id = ${set.projectId} AND f.path = ANY (${[...paths]}::text[])
      AND w.environment_id = ${set.id} AND w.file_id = f.id RETURNING w.stored_bytes`;
  if (rows.length === 0) return;
  const named = paths.slice(0, AUDIT_PATHS_MAX);
  const details = { environment: set.name, files: rows.length, paths: named };
  await noteChange(sql, "files.removed", set.projectId, details);
  await charge(sql, set.projectId, { bytes: -bytesOf(rows) });
}

/** A version as lists show it. */
export async function readVersion(sql: Queryable, versionId: string): Promise<FileRow> {
  const [row] = await sql<FileRow[]>`
    SELECT f.id, f.path, v.title, v.id AS version_id, v.chunk_count, v.created_at AS updated_at,
      coalesce(octet_length(v.content), 0) AS size
    FROM file_versions v JOIN files f ON f.id = v.file_id WHERE v.id = ${versionId}`;
  return row as FileRow;
}

import { type Actor, transactionAs } from "../../auth/audit/actor.ts";
import { noteChange } from "../../auth/audit/changes.ts";
import type { Principal } from "../../auth/principal.ts";
import { holdWritableProject, type Membership } from "../../auth/project-access.ts";
import type { Queryable, Sql, Transaction } from "../../db/client.ts";
import { isConflict } from "../../db/errors.ts";
import { bytesOf, Charges, charge, type StoredRow } from "../../db/quotas.ts";
import { documentText } from "../../documents/document.ts";
import { RecordError } from "../../documents/errors.ts";
import { abbreviate } from "../../domain/abbreviate.ts";
import { AUDIT_PATHS_MAX } from "../../domain/limits.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import { otherType } from "../../http/json-body.ts";
import { isCurrent, mayChange } from "../../http/respond.ts";
import { type PutVersion, putVersions } from "../import/put/versions.ts";
import type { FileVersion } from "../import/records/file-record.ts";
import { textVersion } from "../import/text-file.ts";
import { findWorkingSet, type WorkingSet } from "../scopes/working-set.ts";
import { summaryOf } from "./list.ts";
import type { FileRow } from "./queries.ts";
import { versionTags } from "./read.ts";
import type { WrittenFile } from "./schema.ts";

/** A file of a working set, and the version that it has there. */
interface WorkingFile {
  readonly fileId: string;
  readonly versionId: string;
}

/**
 * The file with this path in the working set and its version, which nobody else changes or removes before
 * this transaction ends.
 */
async function lockFile(
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
async function isImported(
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
async function replaceFile(
  sql: Queryable,
  set: WorkingSet,
  record: FileVersion,
  current: WorkingFile | undefined,
): Promise<string> {
  const { projectId } = set;
  const [kept] = await sql<{ embedder: string | null }[]>`
    SELECT keep_embedder(${projectId}) AS embedder`;
  const embedder = kept?.embedder ?? null;
  const toPut = { projectId, embedder, isByClient: true, record };
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
async function takeOut(sql: Queryable, set: WorkingSet, paths: readonly string[]): Promise<void> {
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
async function readVersion(sql: Queryable, versionId: string): Promise<FileRow> {
  const [row] = await sql<FileRow[]>`
    SELECT f.id, f.path, v.title, v.id AS version_id, v.chunk_count, v.created_at AS updated_at,
      coalesce(octet_length(v.content), 0) AS size
    FROM file_versions v JOIN files f ON f.id = v.file_id WHERE v.id = ${versionId}`;
  return row as FileRow;
}

/** Maximum attempts to write a file, because another client may store the same new file at the same time. */
const FILE_WRITE_ATTEMPTS = 3;

/** A change of one file of a working set. Another thread can make it. */
export interface FileChange {
  readonly principal: Principal;
  readonly actor: Actor;
  /** The id or the slug of the project. */
  readonly project: string;
  /** The path under which the file is stored. */
  readonly path: string;
  /** The name of the environment; undefined for the default one of the project. */
  readonly environment: string | undefined;
  /** The conditions of the request; null without one. */
  readonly ifMatch: string | null;
  readonly ifNoneMatch: string | null;
}

/** A text to be stored as a file. */
export interface NewText {
  readonly change: FileChange;
  /** The text in UTF-8. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isMarkdown: boolean;
  /** False if the request gives the body another media type. */
  readonly isText: boolean;
}

export const MARKDOWN_TYPE = "text/markdown";
export const PLAIN_TYPE = "text/plain";

export interface Written {
  readonly projectId: string;
  readonly file: WrittenFile;
  readonly created: boolean;
  /** The release that its environment serves instead of the working set. */
  readonly serves: string | null;
}

interface Changing {
  readonly tx: Transaction;
  readonly project: Membership;
  readonly set: WorkingSet;
  /** The current version under the path. It stays current until the transaction ends. */
  lock(): Promise<WorkingFile | undefined>;
}

/**
 * Runs a change of one file in a transaction, which holds its project. It begins again when another client has stored
 * the same file for the first time. Throws the problem of a caller without the right, and that of a missing
 * environment.
 */
async function changing<T>(
  sql: Sql,
  { principal, actor, project: reference, path, environment }: FileChange,
  work: (change: Changing) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transactionAs(sql, actor, async (tx) => {
        const project = await holdWritableProject(tx, principal, reference);
        const set = await findWorkingSet(tx, project.id, environment);
        return await work({ tx, project, set, lock: () => lockFile(tx, set, path) });
      });
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (attempt === FILE_WRITE_ATTEMPTS) throw new Problem("overloaded", { cause: error });
    }
  }
}

function requireMatch(
  { ifMatch, ifNoneMatch }: FileChange,
  current: WorkingFile | undefined,
): void {
  // A text that was cut into chunks meanwhile is still the same file.
  const tags = current === undefined ? [undefined] : versionTags(current.versionId);
  if (!tags.some((tag) => mayChange(ifMatch, tag))) throw new Problem("precondition-failed");
  if (!tags.some((tag) => tag !== undefined && isCurrent(ifNoneMatch, tag))) return;
  throw new Problem("precondition-failed", {
    detail: "The file exists, which If-None-Match excludes.",
  });
}

/** Reads a text and cuts it into chunks. Throws the problem of an invalid text. */
async function versionOf({ change, bytes, isMarkdown, isText }: NewText): Promise<FileVersion> {
  const { path } = change;
  if (!isText) throw otherType([MARKDOWN_TYPE, PLAIN_TYPE], ", in UTF-8");
  try {
    return await textVersion({ path, content: documentText(bytes), isMarkdown });
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    throw invalid(
      [{ field: "body", message: error.message }],
      `${abbreviate(path)} ${error.message}.`,
    );
  }
}

/**
 * Stores a text as a version of its file, and puts it into the working set. Cutting it into chunks takes time, so it
 * happens before others have to wait for the file. Throws the problem of an invalid text.
 *
 * @param isAllowed true if the caller is known to have the right; otherwise it is checked before the text is cut
 */
export async function storeText(sql: Sql, text: NewText, isAllowed = false): Promise<Written> {
  const { change } = text;
  let cut = isAllowed ? await versionOf(text) : undefined;
  return await changing(sql, change, async ({ tx, project, set, lock }) => {
    cut ??= await versionOf(text);
    const current = await lock();
    requireMatch(change, current);
    const version =
      current !== undefined && (await isImported(tx, current.versionId, cut))
        ? current.versionId
        : await replaceFile(tx, set, cut, current);
    const summary = summaryOf(await readVersion(tx, version));
    const { warning } = cut;
    const file = warning ? { ...summary, warnings: [{ message: warning }] } : summary;
    const { id: projectId } = project;
    return { projectId, file, created: current === undefined, serves: set.serves };
  });
}

/**
 * Takes a file out of the working set. Returns the release that its environment serves instead, if any. Throws
 * `file-not-found`.
 */
export async function removeFile(sql: Sql, change: FileChange): Promise<string | null> {
  return await changing(sql, change, async ({ tx, set, lock }) => {
    const current = await lock();
    if (current === undefined) throw new Problem("file-not-found");
    requireMatch(change, current);
    await takeOut(tx, set, [change.path]);
    return set.serves;
  });
}

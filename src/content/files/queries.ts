import type { Queryable } from "../../db/client.ts";
import type { PageRange } from "../../domain/page-info.ts";
import { documentPath } from "../../domain/paths.ts";
import type { Naming } from "../../domain/reference.ts";
import type { RowOf } from "../../domain/rows.ts";
import type { Scope } from "../../domain/scope.ts";
import type { FileSummary } from "./schema.ts";

/** A file and its version in a scope. */
export type FileRow = RowOf<FileSummary>;

/**
 * Joins the files `f` with their versions `v` that a scope holds.
 *
 * @param many false for a few files, which are found one by one
 */
function versionsIn(sql: Queryable, { kind, filter, id: own }: Scope, many: boolean) {
  // A derived scope has no rows of its own, so the versions come from its base.
  const id = filter?.base ?? own;
  if (kind === "environment") {
    return sql`JOIN environment_files s ON s.environment_id = ${id} AND s.file_id = f.id
      JOIN file_versions v ON v.id = s.file_version_id`;
  }
  // IS TRUE keeps the planner from reading the files in another order than that of their paths.
  return many
    ? sql`JOIN file_versions v ON v.file_id = f.id AND (v.id IN (
        SELECT contents_versions((SELECT contents_id FROM releases WHERE id = ${id})))) IS TRUE`
    : sql`JOIN file_versions v ON v.file_id = f.id
        AND v.id IN (SELECT release_among(${id}, ARRAY(
          SELECT id FROM file_versions WHERE file_id = f.id)))`;
}

function filesIn(sql: Queryable, scope: Scope, many: boolean) {
  return sql`
    SELECT f.id, f.path, v.title, v.id AS version_id, v.chunk_count, v.created_at AS updated_at,
      coalesce(octet_length(v.content), 0) AS size
    FROM files f ${versionsIn(sql, scope, many)}
    WHERE f.project_id = ${scope.projectId}`;
}

/** A page of the files of a list whose paths have a prefix. The path comes first in their keys. */
export interface PathRange extends PageRange<readonly [path: string, ...rest: unknown[]]> {
  readonly prefix: string;
}

const LAST_CODE_POINT = 0x10_ffff;
const SURROGATES = { first: 0xd800, last: 0xdfff };

/** The first text after all that begin with the prefix, in byte order of UTF-8; null without an end. */
function endOfPrefix(prefix: string): string | null {
  const points = [...prefix].map((char) => char.codePointAt(0) as number);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  const next = last + 1 === SURROGATES.first ? SURROGATES.last + 1 : last + 1;
  return String.fromCodePoint(...points, next);
}

/** The first files of a range in order of path, or the last ones in reverse order before a path. */
export async function readFiles(
  sql: Queryable,
  scope: Scope,
  { prefix, after, before, limit }: PathRange,
): Promise<FileRow[]> {
  const end = endOfPrefix(prefix);
  return await sql<FileRow[]>`
    ${filesIn(sql, scope, true)}
      ${prefix === "" ? sql`` : sql`AND f.path >= ${prefix}`}
      ${end === null ? sql`` : sql`AND f.path < ${end}`}
      ${after === undefined ? sql`` : sql`AND f.path > ${after[0]}`}
      ${before === undefined ? sql`` : sql`AND f.path < ${before[0]}`}
    ORDER BY f.path ${before === undefined ? sql`ASC` : sql`DESC`} LIMIT ${limit}`;
}

/** The file with this id, or with this path, in a scope. */
export async function readFile(
  sql: Queryable,
  scope: Scope,
  naming: Naming,
): Promise<FileRow | undefined> {
  const files = filesIn(sql, scope, false);
  const [row] =
    "id" in naming
      ? await sql<FileRow[]>`${files} AND f.id = ${naming.id}`
      : await sql<FileRow[]>`${files} AND f.path = ${documentPath(naming.name)}`;
  return row;
}

/** The content of a file version, and its chunks as JSON. */
export async function readContent(
  sql: Queryable,
  versionId: string,
): Promise<{ content: string | null; chunks: string } | undefined> {
  const [row] = await sql<{ content: string | null; chunks: string }[]>`
    SELECT v.content, (
      SELECT coalesce(json_agg(c ORDER BY c.index), '[]') FROM (
        SELECT id, index, start_offset, end_offset, token_count FROM chunks
        WHERE file_version_id = v.id) c)::text AS chunks
    FROM file_versions v WHERE v.id = ${versionId}`;
  return row;
}

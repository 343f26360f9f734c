import type { Queryable } from "../../db/client.ts";
import type { Scope } from "../requests/scope.ts";

/** A file in a scope and its chunks by index, of which it may have none. */
export interface FileChunks {
  readonly file: { readonly id: string; readonly path: string; readonly version_id: string };
  /** JSON texts as searches render them. */
  readonly chunks: readonly RenderedChunk[];
}

interface RenderedChunk {
  readonly id: string;
  readonly content: string;
  readonly rendered: string;
}

interface FileRow {
  readonly id: string;
  readonly path: string;
  readonly version_id: string;
  readonly chunks: string;
}

/** The versions of files with these paths that a scope holds, and perhaps others. */
function versionsIn(sql: Queryable, { kind, filter, id: own, projectId }: Scope, paths: string[]) {
  const id = filter?.base ?? own;
  return kind === "environment"
    ? sql`SELECT file_version_id FROM environment_files WHERE environment_id = ${id}`
    : sql`SELECT release_among(${id}, ARRAY(SELECT v.id FROM files f JOIN file_versions v
        ON v.file_id = f.id WHERE f.project_id = ${projectId} AND f.path = ANY(${paths}::text[])))`;
}

/** Reads the files of a scope that have these paths. */
export async function readFileChunks(
  sql: Queryable,
  scope: Scope,
  paths: readonly string[],
): Promise<Map<string, FileChunks>> {
  if (paths.length === 0) return new Map();
  const rows = await sql<FileRow[]>`
    SELECT f.id, f.path, v.id AS version_id, (
      SELECT coalesce(json_agg(json_build_array(c.id, c.content, json_build_object('id', c.id,
        'file_path', c.file_path, 'file_id', c.file_id, 'file_version_id', c.file_version_id,
        'index', c.index, 'content', c.content, 'start_offset', c.start_offset,
        'end_offset', c.end_offset, 'token_count', c.token_count, 'metadata', c.metadata)::text)
        ORDER BY c.index), '[]') FROM chunks c WHERE c.file_version_id = v.id)::text AS chunks
    FROM files f JOIN file_versions v ON v.file_id = f.id
    WHERE f.project_id = ${scope.projectId} AND f.path = ANY(${paths as string[]}::text[])
      AND v.id IN (${versionsIn(sql, scope, paths as string[])})`;
  return new Map(
    rows.map(({ id, path, version_id, chunks }) => {
      const list = JSON.parse(chunks) as Array<[id: string, content: string, rendered: string]>;
      const rendered = list.map(([id, content, rendered]) => ({ id, content, rendered }));
      return [path, { file: { id, path, version_id }, chunks: rendered }];
    }),
  );
}

import type { Queryable } from "../../db/client.ts";

/** The position of a chunk in the listing, unique within a project. */
export interface ChunkPosition {
  readonly filePath: string;
  readonly fileVersionId: string;
  readonly index: number;
}

export interface ChunkRow {
  id: string;
  file_path: string;
  file_id: string;
  file_version_id: string;
  index: number;
  content: string;
  start_offset: number;
  end_offset: number;
  token_count: number;
}

/** The first `limit` chunks of a project in listing order, after the position if one is given. */
export async function chunksAfter(
  sql: Queryable,
  projectId: string,
  position: ChunkPosition | undefined,
  limit: number,
): Promise<ChunkRow[]> {
  const after = position
    ? sql`AND (file_path, file_version_id, index) >
        (${position.filePath}, ${position.fileVersionId}::uuid, ${position.index}::integer)`
    : sql``;
  return await sql<ChunkRow[]>`
    SELECT id, file_path, file_id, file_version_id, index, content, start_offset, end_offset,
      token_count
    FROM chunks WHERE project_id = ${projectId} ${after}
    ORDER BY project_id, file_path, file_version_id, index LIMIT ${limit}`;
}

/** The last `limit` chunks before a position, in reverse listing order. */
export async function chunksBefore(
  sql: Queryable,
  projectId: string,
  position: ChunkPosition,
  limit: number,
): Promise<ChunkRow[]> {
  return await sql<ChunkRow[]>`
    SELECT id, file_path, file_id, file_version_id, index, content, start_offset, end_offset,
      token_count
    FROM chunks WHERE project_id = ${projectId}
      AND (file_path, file_version_id, index) <
        (${position.filePath}, ${position.fileVersionId}::uuid, ${position.index}::integer)
    ORDER BY project_id DESC, file_path DESC, file_version_id DESC, index DESC LIMIT ${limit}`;
}

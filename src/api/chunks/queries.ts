import type { PendingQuery, Row } from "postgres";
import type { Queryable } from "../../db/client.ts";
import { LISTED_MAX_BYTES } from "../../shared/limits.ts";

/** The position of a chunk in the listing, unique within a project. */
export interface ChunkPosition {
  readonly filePath: string;
  readonly fileVersionId: string;
  readonly index: number;
}

/** A chunk, and how many there are without the bound of a page's bytes. */
export interface ChunkRow {
  found: number;
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

const COLUMNS = `id, file_path, file_id, file_version_id, index, content, start_offset, end_offset,
  token_count`;

/** The first rows of a query in its order until their texts have LISTED_MAX_BYTES, one at least. */
function listed(sql: Queryable, query: PendingQuery<Row[]>, direction: "ASC" | "DESC") {
  const order = sql.unsafe(
    ["file_path", "file_version_id", "index"].map((name) => `${name} ${direction}`).join(", "),
  );
  return sql<ChunkRow[]>`
    SELECT found, ${sql.unsafe(COLUMNS)} FROM (
      SELECT *, (count(*) OVER ())::integer AS found,
        sum(octet_length(content)) OVER (ORDER BY ${order}) - octet_length(content) AS before
      FROM (${query}) page
    ) sized WHERE before < ${LISTED_MAX_BYTES} ORDER BY ${order}`;
}

/**
 * The first `limit` chunks of a project in listing order, after the position if one is given. There are fewer
 * if their texts are long.
 */
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
  const query = sql`
    SELECT ${sql.unsafe(COLUMNS)} FROM chunks WHERE project_id = ${projectId} ${after}
    ORDER BY project_id, file_path, file_version_id, index LIMIT ${limit}`;
  return await listed(sql, query, "ASC");
}

/** The last `limit` chunks before a position, or fewer, in reverse listing order. */
export async function chunksBefore(
  sql: Queryable,
  projectId: string,
  position: ChunkPosition,
  limit: number,
): Promise<ChunkRow[]> {
  const query = sql`
    SELECT ${sql.unsafe(COLUMNS)} FROM chunks WHERE project_id = ${projectId}
      AND (file_path, file_version_id, index) <
        (${position.filePath}, ${position.fileVersionId}::uuid, ${position.index}::integer)
    ORDER BY project_id DESC, file_path DESC, file_version_id DESC, index DESC LIMIT ${limit}`;
  return await listed(sql, query, "DESC");
}

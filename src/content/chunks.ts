import type { Static } from "@sinclair/typebox";
import type { PendingQuery, Row } from "postgres";
import type { Queryable } from "../db/client.ts";
import type { Chunk } from "../domain/chunk.ts";
import { LISTED_MAX_BYTES } from "../domain/limits.ts";
import type { PageRange } from "../domain/page-info.ts";

/** The position of a chunk in the listing, unique within a project. */
export type ChunkPosition = [path: string, version: string, index: number];

/** A chunk, and how many there are without the bound of a page's bytes. */
export interface ChunkRow extends Static<typeof Chunk> {
  found: number;
}

const COLUMNS = `id, file_path, file_id, file_version_id, index, content, start_offset, end_offset,
  token_count`;

const KEY = ["file_path", "file_version_id", "index"];

function orderOf(sql: Queryable, columns: readonly string[], direction: "ASC" | "DESC") {
  return sql.unsafe(columns.map((name) => `${name} ${direction}`).join(", "));
}

/** The first rows of a query in its order until their texts have LISTED_MAX_BYTES, one at least. */
function listed(sql: Queryable, query: PendingQuery<Row[]>, direction: "ASC" | "DESC") {
  const order = orderOf(sql, KEY, direction);
  return sql<ChunkRow[]>`
    SELECT found, ${sql.unsafe(COLUMNS)} FROM (
      SELECT *, (count(*) OVER ())::integer AS found,
        sum(octet_length(content)) OVER (ORDER BY ${order}) - octet_length(content) AS before
      FROM (${query}) page
    ) sized WHERE before < ${LISTED_MAX_BYTES} ORDER BY ${order}`;
}

/**
 * A page of the chunks of a project in listing order, or in reverse order before a chunk. There are fewer if their
 * texts are long.
 */
export async function readChunks(
  sql: Queryable,
  projectId: string,
  { after, before, limit }: PageRange<ChunkPosition>,
): Promise<ChunkRow[]> {
  const order = before === undefined ? "ASC" : "DESC";
  const at = ([path, version, index]: ChunkPosition) =>
    sql`(${path}, ${version}::uuid, ${index}::integer)`;
  const query = sql`
    SELECT ${sql.unsafe(COLUMNS)} FROM chunks WHERE project_id = ${projectId}
      ${after === undefined ? sql`` : sql`AND (file_path, file_version_id, index) > ${at(after)}`}
      ${before === undefined ? sql`` : sql`AND (file_path, file_version_id, index) < ${at(before)}`}
    ORDER BY ${orderOf(sql, ["project_id", ...KEY], order)} LIMIT ${limit}`;
  return await listed(sql, query, order);
}

import type { Principal } from "../auth/principal.ts";
import { findProject } from "../auth/project-access.ts";
import type { Queryable } from "../db/client.ts";
import type { CursorSigner } from "../http/cursor.ts";
import { Problem } from "../problem/problem.ts";
import { CHUNK_PAGE_DEFAULT } from "../shared/limits.ts";
import { type ChunkPosition, type ChunkRow, chunksAfter, chunksBefore } from "./queries.ts";
import type { ChunkPage } from "./schema.ts";

/** What a cursor carries: the page's size, the way to go, and the row from which. */
type Position = [limit: number, forward: boolean, path: string, version: string, index: number];

interface Page {
  readonly rows: ChunkRow[];
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
}

export interface ChunkRequest {
  /** The path and query as requested, for `self`. */
  readonly self: string;
  readonly reference: string;
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}

function opened(cursors: CursorSigner, projectId: string, request: ChunkRequest) {
  if (request.cursor === undefined) return undefined;
  const position = cursors.open(`chunks:${projectId}`, request.cursor) as Position;
  // A cursor goes on with the query that made it; another page size would be another query.
  if (request.limit !== undefined && request.limit !== position[0]) {
    throw new Problem("invalid-cursor", { detail: "The cursor was made with another limit." });
  }
  return position;
}

/** Reads one row more than the page holds: it tells whether there is a page beyond. */
async function readPage(
  sql: Queryable,
  projectId: string,
  limit: number,
  position: Position | undefined,
): Promise<Page> {
  if (position === undefined) {
    const rows = await chunksAfter(sql, projectId, undefined, limit + 1);
    return { rows: rows.slice(0, limit), hasPrevious: false, hasNext: rows.length > limit };
  }
  const [, forward, filePath, fileVersionId, index] = position;
  const from: ChunkPosition = { filePath, fileVersionId, index };
  const rows = await (forward ? chunksAfter : chunksBefore)(sql, projectId, from, limit + 1);
  const hasMore = rows.length > limit;
  const page = rows.slice(0, limit);
  // The row that the cursor names stood on the page from which the caller comes.
  return forward
    ? { rows: page, hasPrevious: true, hasNext: hasMore }
    : { rows: page.reverse(), hasPrevious: hasMore, hasNext: true };
}

/**
 * One page of a project's chunks. Pages are found by the position of their neighbour, so a chunk
 * that is there all along is seen exactly once, whatever is inserted or deleted meanwhile.
 * Throws `project-not-found`, or `invalid-cursor`.
 */
export async function listChunks(
  sql: Queryable,
  cursors: CursorSigner,
  principal: Principal,
  request: ChunkRequest,
): Promise<ChunkPage> {
  const projectId = await findProject(sql, principal, request.reference);
  const position = opened(cursors, projectId, request);
  const limit = position?.[0] ?? request.limit ?? CHUNK_PAGE_DEFAULT;
  const { rows, hasPrevious, hasNext } = await readPage(sql, projectId, limit, position);

  const path = request.self.split("?", 1)[0];
  const link = (row: ChunkRow | undefined, forward: boolean): string | null => {
    if (row === undefined) return null;
    const to: Position = [limit, forward, row.file_path, row.file_version_id, row.index];
    return `${path}?limit=${limit}&cursor=${cursors.seal(`chunks:${projectId}`, to)}`;
  };
  return {
    data: rows,
    page_info: {
      self: request.self,
      first: hasPrevious ? `${path}?limit=${limit}` : null,
      next: hasNext ? link(rows.at(-1), true) : null,
      prev: hasPrevious ? link(rows[0], false) : null,
    },
  };
}

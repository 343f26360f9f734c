import type { Principal } from "../auth/principal.ts";
import { findProject } from "../auth/project-access.ts";
import type { Queryable } from "../db/client.ts";
import type { CursorSigner } from "../http/cursor.ts";
import { Problem } from "../problem/problem.ts";
import { CHUNK_PAGE_DEFAULT } from "../shared/limits.ts";
import { type ChunkPosition, type ChunkRow, chunksAfter, chunksBefore } from "./queries.ts";
import type { ChunkPage } from "./schema.ts";

/** The content of a cursor: the page size, the direction, and the row where it starts. */
type Position = [limit: number, forward: boolean, path: string, version: string, index: number];

interface Page {
  readonly rows: ChunkRow[];
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
}

interface ChunkRequest {
  /** The requested path and query, for `self`. */
  readonly self: string;
  readonly reference: string;
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}

function openCursor(cursors: CursorSigner, projectId: string, request: ChunkRequest) {
  if (request.cursor === undefined) return undefined;
  const position = cursors.open(`chunks:${projectId}`, request.cursor) as Position;
  // A cursor continues one listing, and another page size would be another listing.
  if (request.limit !== undefined && request.limit !== position[0]) {
    throw new Problem("invalid-cursor", {
      detail: "The cursor belongs to a listing with another limit.",
    });
  }
  return position;
}

/** Reads a page and one extra row, which shows whether there is another page. */
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
  // The row in the cursor was on the page that the caller came from, so that page exists.
  return forward
    ? { rows: page, hasPrevious: true, hasNext: hasMore }
    : { rows: page.reverse(), hasPrevious: hasMore, hasNext: true };
}

/**
 * One page of a project's chunks. A page starts after a row rather than at an offset, so a chunk
 * that exists throughout is listed exactly once, despite concurrent inserts and deletes. Throws
 * `project-not-found` and `invalid-cursor`.
 */
export async function listChunks(
  sql: Queryable,
  cursors: CursorSigner,
  principal: Principal,
  request: ChunkRequest,
): Promise<ChunkPage> {
  const projectId = await findProject(sql, principal, request.reference);
  const position = openCursor(cursors, projectId, request);
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

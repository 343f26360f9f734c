import type { Principal } from "../../auth/principal.ts";
import { findProject } from "../../auth/project-access.ts";
import type { Queryable } from "../../db/client.ts";
import type { CursorSigner } from "../../http/cursor.ts";
import { type PageRequest, readListing } from "../../http/pages.ts";
import { type ChunkPosition, type ChunkRow, chunksAfter, chunksBefore } from "./queries.ts";
import type { ChunkPage } from "./schema.ts";

type Key = [path: string, version: string, index: number];

function positionOf([filePath, fileVersionId, index]: Key): ChunkPosition {
  return { filePath, fileVersionId, index };
}

/** One page of a project's chunks. Throws `project-not-found` and `invalid-cursor`. */
export async function listChunks(
  sql: Queryable,
  cursors: CursorSigner,
  principal: Principal,
  { reference, page }: { readonly reference: string; readonly page: PageRequest },
): Promise<ChunkPage> {
  const projectId = await findProject(sql, principal, reference);
  const { rows, pageInfo } = await readListing<ChunkRow, Key>(cursors, page, {
    binding: `chunks:${projectId}`,
    keyOf: (row) => [row.file_path, row.file_version_id, row.index],
    after: (key, limit) => chunksAfter(sql, projectId, key && positionOf(key), limit),
    before: (key, limit) => chunksBefore(sql, projectId, positionOf(key), limit),
    isCut: (rows) => rows.length < (rows[0]?.found ?? 0),
  });
  return { data: rows.map(({ found: _, ...chunk }) => chunk), page_info: pageInfo };
}

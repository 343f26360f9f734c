import type { Principal } from "../../auth/principal.ts";
import { findProject } from "../../auth/project-access.ts";
import { type ListServices, type PageRequest, readListing } from "../../http/pages.ts";
import { type ChunkPosition, type ChunkRow, readChunks } from "./queries.ts";
import type { ChunkPage } from "./schema.ts";

/** One page of a project's chunks. Throws `project-not-found` and `invalid-cursor`. */
export async function listChunks(
  { sql, cursors }: ListServices,
  principal: Principal,
  { reference, page }: { readonly reference: string; readonly page: PageRequest },
): Promise<ChunkPage> {
  const projectId = await findProject(sql, principal, reference);
  const { rows, pageInfo } = await readListing<ChunkRow, ChunkPosition>(cursors, page, {
    binding: `chunks:${projectId}`,
    keyOf: (row) => [row.file_path, row.file_version_id, row.index],
    read: (range) => readChunks(sql, projectId, range),
    isCut: (rows) => rows.length < (rows[0]?.found ?? 0),
  });
  return { data: rows.map(({ found: _, ...chunk }) => chunk), page_info: pageInfo };
}

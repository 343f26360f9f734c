import type { Sql } from "../../db/client.ts";
import { INDEX_READ_BATCH_ROWS } from "../../shared/limits.ts";
import type { ChunkRow, DocumentRow, VersionReader } from "./version-index.ts";

/** Reads file versions through cursors, so that only one batch of rows is in memory at a time. */
export function createVersionReader(sql: Sql): VersionReader {
  return {
    chunks: (versionIds) =>
      sql<ChunkRow[]>`
        SELECT id, file_version_id, file_id, file_path, index, content, start_offset, end_offset,
          token_count, metadata::text AS metadata, dimension, embedding
        FROM chunks
        WHERE file_version_id = ANY(${versionIds as string[]}::uuid[]) AND embedding IS NOT NULL
        ORDER BY file_version_id, index`.cursor(INDEX_READ_BATCH_ROWS),
    documents: (versionIds) =>
      sql<DocumentRow[]>`
        SELECT v.id AS file_version_id, f.path, CASE
            WHEN f.path !~* '[.]mdx?$' THEN NULL
            WHEN v.content IS NOT NULL THEN v.content
            ELSE (SELECT string_agg(c.content, E'\n\n' ORDER BY c.index)
              FROM chunks c WHERE c.file_version_id = v.id)
          END AS content
        FROM file_versions v JOIN files f ON f.id = v.file_id
        WHERE v.id = ANY(${versionIds as string[]}::uuid[])
        ORDER BY v.id`.cursor(INDEX_READ_BATCH_ROWS),
  };
}

import type { Sql } from "../../../db/client.ts";
import { INDEX_READ_BATCH_ROWS } from "../../../shared/limits.ts";
import type { ChunkRow, DocumentRow, EmptyVersionRow, VersionReader } from "./version-index.ts";

/**
 * Reads file versions through cursors, so that only one batch of rows is in memory at a time. One
 * statement reads versions and chunks, because a version may be written between two.
 */
export function createVersionReader(sql: Sql): VersionReader {
  return {
    chunks: (versionIds) =>
      sql<Array<ChunkRow | EmptyVersionRow>>`
        SELECT c.id, v.id AS file_version_id, c.file_id, c.file_path, c.index, c.content,
          c.start_offset, c.end_offset, c.token_count, c.metadata::text AS metadata, c.dimension,
          c.embedding
        FROM file_versions v LEFT JOIN LATERAL (
          -- Ordered here, so that PostgreSQL looks up each version and never reads the whole table.
          SELECT * FROM chunks WHERE file_version_id = v.id AND embedding IS NOT NULL ORDER BY index
        ) c ON TRUE
        WHERE v.id = ANY(${versionIds as string[]}::uuid[])
        ORDER BY v.id, c.index`.cursor(INDEX_READ_BATCH_ROWS),
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

import type { Sql } from "../../db/client.ts";
import { FRONTMATTER_MAX_CHARS, IMPORT_LINE_MAX_BYTES } from "../../domain/limits.ts";
import type {
  ChunkRow,
  DocumentRow,
  EmptyVersionRow,
  FieldsRow,
  VersionReader,
} from "./version-index.ts";

/** Chunks with their embeddings per batch. */
const INDEX_READ_BATCH_ROWS = 64;
/** A longer text of a file is read alone. */
const INDEX_READ_BATCH_TEXT_BYTES = 1_048_576;

/** Frontmatter with its fences is never longer. */
const HEAD_CHARS = FRONTMATTER_MAX_CHARS + 256;

/** The first of these ends frontmatter, if no other fence has ended it before. */
const FENCE = "\n---\n";
const TOML_FENCE = "\n+++\n";

/**
 * Reads file versions through cursors, so that only one batch of rows is in memory at a time. One
 * statement reads versions and chunks, because a version may be written between two.
 *
 * @param onlyEmbedded whether chunks without an embedding are left out
 */
export function createVersionReader(sql: Sql, onlyEmbedded = false): VersionReader {
  return {
    chunks: (versionIds) =>
      sql<Array<ChunkRow | EmptyVersionRow>>`
        SELECT c.id, v.id AS file_version_id, f.id AS file_id, f.path AS file_path, c.index, c.content,
          c.start_offset, c.end_offset, c.token_count, c.metadata::text, c.embedding
        FROM file_versions v JOIN files f ON f.id = v.file_id LEFT JOIN LATERAL (
          -- Ordered here, so that PostgreSQL looks up each version and never reads the whole table.
          SELECT * FROM chunks
          WHERE file_version_id = v.id AND (embedding IS NOT NULL OR NOT ${onlyEmbedded})
          ORDER BY index
        ) c ON TRUE
        WHERE v.id = ANY(${versionIds as string[]}::uuid[])
        ORDER BY v.id, c.index`.cursor(INDEX_READ_BATCH_ROWS),
    async *documents(versionIds) {
      const long: string[] = [];
      for await (const rows of documentsOf(sql, versionIds, INDEX_READ_BATCH_TEXT_BYTES)) {
        for (const row of rows) if (row.is_long) long.push(row.file_version_id);
        yield rows.filter((row) => !row.is_long);
      }
      // One at a time, because a batch of them would be more than fits into memory.
      for (const id of long) yield* documentsOf(sql, [id], IMPORT_LINE_MAX_BYTES);
    },
    fields: (versionIds) => fieldsOf(sql, versionIds),
  };
}

/** File versions with their texts, which are left out when they are longer than `maxBytes`. */
function documentsOf(sql: Sql, versionIds: readonly string[], maxBytes: number) {
  return sql<Array<DocumentRow & { readonly is_long: boolean }>>`
    SELECT v.id AS file_version_id, f.path, text.bytes > ${maxBytes} AS is_long,
      CASE
        WHEN text.bytes IS NULL OR text.bytes > ${maxBytes} THEN NULL
        WHEN v.content IS NOT NULL THEN v.content
        ELSE (SELECT string_agg(c.content, E'\n\n' ORDER BY c.index)
          FROM chunks c WHERE c.file_version_id = v.id)
      END AS content
    FROM file_versions v JOIN files f ON f.id = v.file_id CROSS JOIN LATERAL (
      SELECT CASE
        WHEN f.path !~* '[.](md|mdx|markdown)$' THEN NULL
        WHEN v.content IS NOT NULL THEN octet_length(v.content)
        ELSE (SELECT sum(octet_length(c.content)) FROM chunks c WHERE c.file_version_id = v.id)
      END AS bytes
      OFFSET 0 -- Computed once.
    ) text
    WHERE v.id = ANY(${versionIds as string[]}::uuid[])
    ORDER BY v.id`.cursor(INDEX_READ_BATCH_ROWS);
}

/**
 * The fields of file versions that filters compare. Only the frontmatter of a text is sent, up to the first line that
 * certainly ends it. A text that does not begin with a fence is not sent.
 */
function fieldsOf(sql: Sql, versionIds: readonly string[]) {
  return sql<FieldsRow[]>`
    SELECT v.id AS file_version_id, f.path,
      CASE
        WHEN left(text.start, 4) NOT LIKE ALL ('{%---%,%+++%}') THEN ''
        WHEN text.fence > 0 THEN left(text.start, text.fence + ${FENCE.length - 1}::integer)
        ELSE text.start
      END AS head,
      coalesce(own.dimensions, '{}') AS dimensions, coalesce(own.metadata, '[]') AS metadata
    FROM file_versions v JOIN files f ON f.id = v.file_id CROSS JOIN LATERAL (
      SELECT array_agg(coalesce(c.dimension, 0) ORDER BY c.index) AS dimensions,
        json_agg(c.metadata ORDER BY c.index)::text AS metadata
      FROM chunks c WHERE c.file_version_id = v.id
    ) own CROSS JOIN LATERAL (
      SELECT start, position(
          CASE WHEN left(start, 4) LIKE '%+++%' THEN ${TOML_FENCE} ELSE ${FENCE} END IN start
        ) AS fence FROM (
        SELECT CASE
          WHEN f.path !~* '[.](md|mdx|markdown)$' THEN NULL
          -- Counting characters takes longer than all else.
          WHEN octet_length(v.content) <= ${HEAD_CHARS} THEN v.content
          WHEN v.content IS NOT NULL THEN left(v.content, ${HEAD_CHARS}::integer)
          ELSE left((SELECT string_agg(c.content, E'\n\n' ORDER BY c.index)
            FROM chunks c WHERE c.file_version_id = v.id), ${HEAD_CHARS}::integer)
        END AS start
        OFFSET 0 -- Computed once.
      ) whole
      OFFSET 0
    ) text
    WHERE v.id = ANY(${versionIds as string[]}::uuid[])
    ORDER BY v.id`.cursor(INDEX_READ_BATCH_ROWS);
}

import type { Queryable } from "../../db/client.ts";
import { Charges } from "../../db/quotas.ts";
import { isMarkdownPath } from "../../documents/markdown/index.ts";
import type { Passage } from "../../embed/embedders/embedder.ts";
import { insertRows } from "../import/put/row-set.ts";
import { chunkValues } from "../import/put/versions.ts";
import { passageOf } from "../import/records/passage.ts";
import { cutText } from "../import/text-file.ts";

/** The texts of one pass end with the chunk that reaches this size, so a pass over long texts takes few of them. */
const PASS_TEXT_BYTES = 1_000_000;

/** The fingerprint of a project's embedder; null without one. */
export async function fingerprintOf(sql: Queryable, projectId: string): Promise<string | null> {
  const [row] = await sql<{ embedder: string | null }[]>`
    SELECT embedder FROM projects WHERE id = ${projectId}`;
  return row?.embedder ?? null;
}

/** A chunk whose text is to be embedded. */
export interface TextChunk {
  readonly id: string;
  readonly passage: Passage;
}

/** The columns of a chunk and its file from which its passage is made. */
export interface ChunkText {
  readonly id: string;
  readonly content: string;
  readonly path: string;
  readonly title: string;
  /** JSON. */
  readonly metadata: string;
}

export function textChunk({ id, ...text }: ChunkText): TextChunk {
  return { id, passage: passageOf(text) };
}

/**
 * Chunks of these versions without embeddings, in order, but failed ones that are not due yet: up to a number, and to a
 * size of their texts.
 */
export async function readTextChunks(
  sql: Queryable,
  versions: readonly string[],
  limit: number,
): Promise<TextChunk[]> {
  const rows = await sql<ChunkText[]>`
    WITH next AS (
      SELECT c.id, wanted.position, c.index, octet_length(c.content) AS bytes
      FROM unnest(${[...versions]}::uuid[]) WITH ORDINALITY AS wanted (id, position)
      JOIN chunks c ON c.file_version_id = wanted.id
      WHERE c.embedding IS NULL AND NOT EXISTS (
        SELECT FROM embedding_failures f WHERE f.chunk_id = c.id AND f.due > now())
      ORDER BY wanted.position, c.index LIMIT ${limit}),
    counted AS (
      SELECT *, sum(bytes) OVER (ORDER BY position, index) - bytes AS before FROM next)
    SELECT c.id, c.content, c.file_path AS path, v.title, c.metadata::text AS metadata
    FROM counted n JOIN chunks c ON c.id = n.id JOIN file_versions v ON v.id = c.file_version_id
    WHERE n.before < ${PASS_TEXT_BYTES} ORDER BY n.position, n.index`;
  return rows.map(textChunk);
}

interface UncutVersion {
  readonly id: string;
  readonly project_id: string;
  readonly file_id: string;
  readonly path: string;
  readonly content: string;
}

/** Cuts those of these versions into chunks that have a content and no chunks yet. Indexes read them again. */
export async function cutVersions(sql: Queryable, versions: readonly string[]): Promise<void> {
  const uncut = await sql<UncutVersion[]>`
    SELECT v.id, v.project_id, v.file_id, f.path, v.content FROM file_versions v
    JOIN files f ON f.id = v.file_id
    WHERE v.id = ANY (${[...versions]}::uuid[]) AND v.chunk_count = 0 AND has_text(v.content)
    ORDER BY v.id FOR UPDATE OF v`;
  if (uncut.length === 0) return;
  const charges = new Charges();
  for (const version of uncut) {
    const { id, content, path } = version;
    const chunks = await cutText(content, isMarkdownPath(path));
    const owner = { project_id: version.project_id, file_id: version.file_id, file_version_id: id };
    const rows = chunks.map((chunk) => ({ ...owner, file_path: path, ...chunkValues(id, chunk) }));
    await insertRows({ sql, charges }, "chunks", rows, { conflict: "ON CONFLICT DO NOTHING" });
    await sql`UPDATE file_versions SET chunk_count = ${chunks.length} WHERE id = ${id}`;
  }
  await sql`
    SELECT append_change(project_id, 'embedded', id) FROM file_versions
    WHERE id = ANY (${uncut.map(({ id }) => id)}::uuid[]) AND chunk_count > 0`;
  await charges.count(sql);
}

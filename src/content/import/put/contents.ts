import type { Queryable } from "../../../db/client.ts";
import { isMarkdownPath } from "../../../documents/markdown/index.ts";
import { parseJson } from "../../../domain/json/parse.ts";
import { cutChunks } from "../records/cut.ts";
import type { FileChunk, FileVersion } from "../records/file-record.ts";
import { sortedJson } from "../records/sorted-json.ts";

/** Stored versions whose contents are in memory at once, to be hashed. */
const HASHED_VERSIONS_PER_READ = 16;

type Contents = Pick<FileVersion, "path" | "content"> & {
  readonly chunks: readonly Omit<FileChunk, "dimension" | "embedding" | "writtenMetadata">[];
};

/**
 * Hashes the content of a version and its chunks without their embeddings, which are computed again when an embedder
 * changes. A text without chunks counts as the chunks that the service cuts it into, now or when it embeds them.
 */
export function contentsHash({ path, content, chunks }: Contents): string {
  const isCut = chunks.length > 0 || content === null;
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(content));
  const own = isCut ? chunks.toSorted((a, b) => a.index - b.index) : undefined;
  for (const chunk of own ?? cutChunks(content ?? "", isMarkdownPath(path))) {
    const { index, startOffset, endOffset, tokenCount } = chunk;
    hash.update(JSON.stringify([index, startOffset, endOffset, tokenCount, chunk.content]));
    hash.update(chunk.metadata);
  }
  return hash.digest("hex");
}

/** A hash of the embeddings of a record; null without embeddings. */
export function embeddingsHash({ chunks }: Pick<FileVersion, "chunks">): string | null {
  if (chunks.every(({ embedding }) => embedding === null)) return null;
  const hash = new Bun.CryptoHasher("sha256");
  for (const { index, embedding } of chunks.toSorted((a, b) => a.index - b.index)) {
    hash.update(`${index}:${embedding ?? ""};`);
  }
  return hash.digest("hex");
}

export interface StoredContents {
  readonly hash: string;
  /** The hash of the embeddings that an import into one project gave; null without any. */
  readonly given: string | null;
}

/** The hashes of the contents of stored versions, by id. */
export async function storedContents(
  sql: Queryable,
  ids: readonly string[],
): Promise<Map<string, StoredContents>> {
  const contents = new Map<string, StoredContents>();
  for (let start = 0; start < ids.length; start += HASHED_VERSIONS_PER_READ) {
    const some = ids.slice(start, start + HASHED_VERSIONS_PER_READ);
    type Row = Omit<Contents, "chunks"> & { id: string; given: string | null };
    const versions = await sql<Row[]>`
      SELECT v.id, f.path, v.content, v.given_embeddings AS given FROM file_versions v JOIN files f ON f.id = v.file_id
      WHERE v.id = ANY (${some}::uuid[])`;
    const rows = await sql<(Contents["chunks"][number] & { version: string })[]>`
      SELECT file_version_id AS version, index, content, start_offset AS "startOffset",
        end_offset AS "endOffset", token_count AS "tokenCount",
        metadata::text
      FROM chunks WHERE file_version_id = ANY (${some}::uuid[]) ORDER BY file_version_id, index`;
    const byVersion = Map.groupBy(rows, ({ version }) => version);
    for (const { id, given, ...version } of versions) {
      const chunks = (byVersion.get(id) ?? []).map((chunk) => ({
        ...chunk,
        metadata: sortedJson(parseJson(chunk.metadata)),
      }));
      contents.set(id, { hash: contentsHash({ ...version, chunks }), given });
    }
  }
  return contents;
}

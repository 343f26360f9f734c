import { vectorFault } from "../../domain/vector.ts";
import type { ChunkRow, EmptyVersionRow } from "./version-index.ts";

const NO_CHUNK = {
  id: "",
  index: 0,
  content: "",
  start_offset: 0,
  end_offset: 0,
  token_count: 0,
  metadata: "{}",
} as const;

/** The JSON text of a chunk in search results. One without an id stands for a version without chunks. */
export function renderChunk(row: ChunkRow | EmptyVersionRow): string {
  const chunk = row.id === null ? { ...row, ...NO_CHUNK } : row;
  const { id, file_path, file_id, file_version_id, index, content } = chunk;
  const { start_offset, end_offset, token_count } = chunk;
  const fields = { id, file_path, file_id, file_version_id, index, content };
  const text = JSON.stringify({ ...fields, start_offset, end_offset, token_count });
  // The metadata is already JSON. Parsing it would lose digits of large numbers.
  return `${text.slice(0, -1)},"metadata":${chunk.metadata}}`;
}

/** The vector of a chunk; null without an embedding, or when no search could score it. */
export function vectorOf({
  embedding,
}: Pick<ChunkRow | EmptyVersionRow, "embedding">): Float32Array | null {
  if (embedding === null) return null;
  // Copied, because the bytes in the connection's buffer are not aligned.
  const vector = new Float32Array(embedding.length / Float32Array.BYTES_PER_ELEMENT);
  new Uint8Array(vector.buffer).set(embedding);
  return vectorFault(vector) === undefined ? vector : null;
}

import { vectorFault } from "../../domain/vector.ts";
import type { ChunkRow } from "./version-index.ts";

/** The JSON text of a chunk in search results. */
export function renderChunk(row: ChunkRow): string {
  const { id, file_path, file_id, file_version_id, index, content } = row;
  const { start_offset, end_offset, token_count } = row;
  const fields = { id, file_path, file_id, file_version_id, index, content };
  const text = JSON.stringify({ ...fields, start_offset, end_offset, token_count });
  // The metadata is already JSON. Parsing it would lose digits of large numbers.
  return `${text.slice(0, -1)},"metadata":${row.metadata}}`;
}

/** The vector of a chunk; null when no search could score it. */
export function vectorOf(row: ChunkRow): Float32Array | null {
  // Copied, because the bytes in the connection's buffer are not aligned.
  const vector = new Float32Array(row.dimension);
  new Uint8Array(vector.buffer).set(row.embedding);
  return vectorFault(vector) === undefined ? vector : null;
}

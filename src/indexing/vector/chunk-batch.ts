import type { AppendBatch } from "../../../native/index.ts";
import { vectorFault } from "../../shared/vector.ts";
import type { ChunkRow } from "../versions/version-index.ts";

const encoder = new TextEncoder();

/** The JSON text of a chunk in search results. */
function renderChunk(row: ChunkRow): string {
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

/** Chunks of one dimension in the form that the native index accepts. */
export function appendBatch(
  rows: readonly ChunkRow[],
  vectors: readonly Float32Array[],
  dimension: number,
): AppendBatch {
  const ids = new Uint8Array(rows.length * 16);
  const joined = new Float32Array(rows.length * dimension);
  const renderedEnds = new Uint32Array(rows.length);
  const texts: Uint8Array[] = [];
  let end = 0;
  for (const [i, row] of rows.entries()) {
    ids.set(Buffer.from(row.id.replaceAll("-", ""), "hex"), i * 16);
    joined.set(vectors[i] as Float32Array, i * dimension);
    const text = encoder.encode(renderChunk(row));
    texts.push(text);
    end += text.length;
    renderedEnds[i] = end;
  }
  return { ids, vectors: joined, rendered: Buffer.concat(texts, end), renderedEnds };
}

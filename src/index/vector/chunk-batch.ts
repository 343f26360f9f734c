import type { AppendBatch } from "../../../native/index.ts";
import { renderChunk } from "../versions/chunk-content.ts";
import type { ChunkRow, EmptyVersionRow } from "../versions/version-index.ts";

const encoder = new TextEncoder();

/** Chunks in the form that the native index of a dimension accepts. The one of dimension 0 has no vectors. */
export function appendBatch(
  rows: ReadonlyArray<ChunkRow | EmptyVersionRow>,
  vectors: ReadonlyArray<Float32Array | null>,
  dimension: number,
): AppendBatch {
  const ids = new Uint8Array(rows.length * 16);
  const joined = new Float32Array(rows.length * dimension);
  const renderedEnds = new Uint32Array(rows.length);
  const texts: Uint8Array[] = [];
  let end = 0;
  for (const [i, row] of rows.entries()) {
    if (row.id !== null) ids.set(Buffer.from(row.id.replaceAll("-", ""), "hex"), i * 16);
    joined.set(vectors[i] ?? [], i * dimension);
    const text = encoder.encode(renderChunk(row));
    texts.push(text);
    end += text.length;
    renderedEnds[i] = end;
  }
  return { ids, vectors: joined, rendered: Buffer.concat(texts, end), renderedEnds };
}

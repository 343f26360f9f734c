import * as native from "../../native/index.ts";
import type { Matrix } from "./vector-files.ts";

const BATCH_ROWS = 2_000;

/** Appends rows of a matrix as chunks whose ids are the rows' numbers; returns their ordinals. */
export function appendRows(
  project: string,
  { values, dimension }: Matrix,
  rows: readonly number[],
): Uint32Array {
  const ordinals = new Uint32Array(rows.length);
  for (let first = 0; first < rows.length; first += BATCH_ROWS) {
    const part = rows.slice(first, first + BATCH_ROWS);
    const vectors = new Float32Array(part.length * dimension);
    const ids = new Uint8Array(part.length * 16);
    const view = new DataView(ids.buffer);
    for (const [i, row] of part.entries()) {
      vectors.set(values.subarray(row * dimension, (row + 1) * dimension), i * dimension);
      view.setUint32(i * 16, row);
    }
    const batch = {
      ids,
      vectors,
      rendered: new TextEncoder().encode("{}".repeat(part.length)),
      renderedEnds: Uint32Array.from(part, (_, i) => (i + 1) * 2),
    };
    ordinals.set(native.append(project, dimension, batch), first);
  }
  return ordinals;
}

/** (start, count) pairs of ordinals, as scopes take them. */
export function rangesOf(ordinals: Uint32Array): Uint32Array {
  const sorted = ordinals.slice().sort();
  return Uint32Array.from({ length: sorted.length * 2 }, (_, i) =>
    i % 2 === 0 ? (sorted[i >> 1] as number) : 1,
  );
}

import { vectorOf } from "../../indexing/versions/chunk-content.ts";
import type { VersionReader } from "../../indexing/versions/version-index.ts";
import { VECTOR_THRESHOLDS_SAMPLE } from "./give-codes.ts";

/** File versions that are drawn at a time. */
const VECTOR_DRAWN_VERSIONS = 50;

/**
 * Vectors of one dimension in file versions that are drawn at random. Stops at VECTOR_THRESHOLDS_SAMPLE vectors, or
 * after as many versions.
 */
export async function drawVectors(
  reader: VersionReader,
  versions: readonly string[],
  dimension: number,
): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  const left = [...versions];
  for (let drawn = 0; drawn < VECTOR_THRESHOLDS_SAMPLE; drawn += VECTOR_DRAWN_VERSIONS) {
    const some = drawFrom(left, VECTOR_DRAWN_VERSIONS);
    if (some.length === 0) break;
    for await (const rows of reader.chunks(some)) {
      for (const row of rows) {
        const vector = row.id === null || row.dimension !== dimension ? null : vectorOf(row);
        if (vector !== null) vectors.push(vector);
      }
      if (vectors.length >= VECTOR_THRESHOLDS_SAMPLE) return vectors;
    }
  }
  return vectors;
}

/** Takes random items out of a list. */
function drawFrom(items: string[], count: number): string[] {
  return Array.from({ length: Math.min(count, items.length) }, () => {
    const at = Math.floor(Math.random() * items.length);
    const item = items[at] as string;
    items[at] = items.at(-1) as string;
    items.pop();
    return item;
  });
}

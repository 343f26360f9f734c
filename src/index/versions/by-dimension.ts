import type { IndexPart } from "./version-index.ts";

/** Adds up the numbers of several indexes by dimension. */
export function byDimension(parts: readonly IndexPart[]): IndexPart[] {
  const sums = new Map<number, IndexPart>();
  for (const part of parts) {
    const sum = sums.get(part.dimension);
    sums.set(part.dimension, {
      dimension: part.dimension,
      entries: part.entries + (sum?.entries ?? 0),
      maintained: part.maintained + (sum?.maintained ?? 0),
      settled: part.settled && sum?.settled !== false,
      bytes: part.bytes + (sum?.bytes ?? 0),
    });
  }
  return [...sums.values()];
}

import type { IndexPart } from "../versions/version-index.ts";

/** Vectors, those without a graph, and memory of indexes; whether all maintenance is done. */
export interface IndexTotals {
  vectors: number;
  backlog: number;
  bytes: number;
  settled: boolean;
}

export function totalsOf(parts: readonly IndexPart[]): IndexTotals {
  const totals = { vectors: 0, backlog: 0, bytes: 0, settled: true };
  for (const { dimension, entries, maintained, bytes, settled } of parts) {
    totals.bytes += bytes;
    totals.settled &&= settled;
    if (dimension === 0) continue;
    totals.vectors += entries;
    totals.backlog += entries - maintained;
  }
  return totals;
}

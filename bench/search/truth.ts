import { exactSearch, MetricKind } from "usearch";
import { NEIGHBOURS } from "./baseline.ts";
import { CHUNKS_PER_FILE, isMember, type World } from "./world.ts";

/**
 * The true nearest chunks of the first `count` queries in the scope of a share, by brute force. Fewer
 * than NEIGHBOURS in a scope that holds fewer of a cosine that is not negative.
 */
export function trueNeighbours(world: World, share: number, count: number): Set<number>[] {
  const { dimension, vectors } = world;
  const members: number[] = [];
  for (let chunk = 0; chunk < world.chunks; chunk++) {
    if (isMember(Math.floor(chunk / CHUNKS_PER_FILE), share)) members.push(chunk);
  }
  const data = new Float32Array(members.length * dimension);
  for (const [row, chunk] of members.entries()) {
    data.set(vectors.subarray(chunk * dimension, (chunk + 1) * dimension), row * dimension);
  }
  const wanted = Math.min(NEIGHBOURS, members.length);
  if (wanted === 0) return Array.from({ length: count }, () => new Set());
  const truth: Set<number>[] = [];
  for (let i = 0; i < count; i++) {
    const query = world.queries[i] as Float32Array;
    const { keys, distances } = exactSearch(data, query, dimension, wanted, MetricKind.Cos, 2) as {
      keys: BigUint64Array;
      distances: Float32Array;
    };
    // Tessera returns no negative scores.
    const rows = [...keys].filter((_, i) => (distances[i] as number) <= 1);
    truth.push(new Set(rows.map((row) => members[Number(row)] as number)));
  }
  return truth;
}

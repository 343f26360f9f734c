import { exactSearch, MetricKind } from "usearch";
import { NEIGHBOURS } from "./baseline.ts";
import { CHUNKS_PER_FILE, isMember, type World } from "./world.ts";

/**
 * The true nearest chunks of the first `count` queries in the scope of a share, by brute force. Fewer
 * than NEIGHBOURS in a scope that holds fewer of a cosine that is not negative.
 */
export function trueNeighbours(world: World, share: number, count: number): Set<number>[] {
  const members: number[] = [];
  for (let chunk = 0; chunk < world.chunks; chunk++) {
    if (isMember(Math.floor(chunk / CHUNKS_PER_FILE), share)) members.push(chunk);
  }
  return nearestOf(world, members, world.queries.slice(0, count));
}

/** The same among these chunks. */
export function nearestOf(
  { dimension, vectors }: Pick<World, "dimension" | "vectors">,
  members: readonly number[],
  queries: readonly Float32Array[],
): Set<number>[] {
  const data = new Float32Array(members.length * dimension);
  for (const [row, chunk] of members.entries()) {
    data.set(vectors.subarray(chunk * dimension, (chunk + 1) * dimension), row * dimension);
  }
  const wanted = Math.min(NEIGHBOURS, members.length);
  if (wanted === 0) return queries.map(() => new Set());
  return queries.map((query) => {
    const { keys, distances } = exactSearch(data, query, dimension, wanted, MetricKind.Cos, 2) as {
      keys: BigUint64Array;
      distances: Float32Array;
    };
    // Tessera returns no negative scores.
    const rows = [...keys].filter((_, i) => (distances[i] as number) <= 1);
    return new Set(rows.map((row) => members[Number(row)] as number));
  });
}

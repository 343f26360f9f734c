import type { Api } from "../harness/requests.ts";
import { nearestRows } from "../harness/vector-files.ts";
import { CHUNKS_PER_FILE, isMember, type World } from "./world.ts";

export const NEIGHBOURS = 10;

/** The true nearest chunks of a query, and their scores, the best first. */
export interface Nearest {
  readonly chunks: ReadonlySet<number>;
  readonly scores: Float64Array;
}

/**
 * The true nearest chunks of the first `count` queries in the scope of a share, by brute force. Fewer
 * than NEIGHBOURS in a scope that holds fewer of a cosine that is not negative.
 */
export function trueNeighbours(world: World, share: number, count: number): Nearest[] {
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
): Nearest[] {
  const data = new Float32Array(members.length * dimension);
  for (const [row, chunk] of members.entries()) {
    data.set(vectors.subarray(chunk * dimension, (chunk + 1) * dimension), row * dimension);
  }
  const matrix = { rows: members.length, dimension, values: data };
  return queries.map((query) => {
    const { rows, scores } = nearestRows(matrix, query, NEIGHBOURS);
    // Tessera returns no negative scores.
    const near = scores.filter((score) => score >= 0);
    const chunks = rows.slice(0, near.length).map((row) => members[row] as number);
    return { chunks: new Set(chunks), scores: Float64Array.from(near) };
  });
}

/** A search: where it is sent, and its body. */
export interface Search {
  readonly path: string;
  readonly body: string;
}

interface Hit {
  readonly chunk: { readonly file_path: string; readonly index: number };
}

/** Recall of the answers over HTTP, how many had fewer results than the truth, and their plans. */
export async function answersOf(
  api: Api,
  searches: readonly Search[],
  truth: readonly Nearest[],
  numberOf: (chunk: Hit["chunk"]) => number,
) {
  let [found, wanted, short] = [0, 0, 0];
  const plans = new Set<string>();
  for (const [i, { chunks: near }] of truth.entries()) {
    const { path, body } = searches[i] as Search;
    const response = await api.send("POST", path, body);
    const { data } = (await response.json()) as { data: Hit[] };
    plans.add(response.headers.get("x-search-plan") ?? "");
    found += data.filter(({ chunk }) => near.has(numberOf(chunk))).length;
    wanted += near.size;
    if (data.length < near.size) short++;
  }
  return { recall: found / wanted, short, plans: [...plans].sort().join("+") };
}

import { closedLoop } from "../harness/load/loops.ts";
import { mean, median, quantile } from "../harness/statistics.ts";
import { type Matrix, nearestRows, rowOf } from "../harness/vector-files.ts";
import type { Peer } from "./peer.ts";

/** Queries that recall is measured on. */
const TUNED_QUERIES = 200;

/** The rows of the true nearest vectors of the first queries, by brute force. */
export function trueNeighbours(data: Matrix, queries: Matrix, limit: number): Set<number>[] {
  return Array.from({ length: Math.min(TUNED_QUERIES, queries.rows) }, (_, i) => {
    return new Set(nearestRows(data, rowOf(queries, i), limit).rows);
  });
}

async function recallOf(
  peer: Peer,
  queries: Matrix,
  truth: readonly Set<number>[],
): Promise<number> {
  const shares: number[] = [];
  for (const [i, near] of truth.entries()) {
    const found = await peer.search(rowOf(queries, i), near.size);
    shares.push(found.filter((row) => near.has(row)).length / near.size);
  }
  return mean(shares);
}

/** Uses the least effort that reaches the recall, or the greatest where none does. */
export async function tune(
  peer: Peer,
  queries: Matrix,
  truth: readonly Set<number>[],
  target: number,
): Promise<{ readonly effort: number; readonly recall: number }> {
  let reached = { effort: 0, recall: 0 };
  for (const effort of peer.efforts) {
    await peer.use(effort);
    reached = { effort, recall: await recallOf(peer, queries, truth) };
    if (reached.recall >= target) break;
  }
  return reached;
}

/** Times are in milliseconds. */
export interface Measured {
  /** Searches per second of all clients. */
  readonly throughput: number;
  readonly p50: number;
  readonly p99: number;
  /** The median with one client. */
  readonly alone: number;
  /** CPU per search of the engine. */
  readonly cpu: number;
}

interface Load {
  readonly limit: number;
  readonly clients: number;
  readonly seconds: number;
  readonly rounds: number;
}

/** A closed loop for some time: how long each search took. */
async function loop(peer: Peer, queries: Matrix, limit: number, clients: number, seconds: number) {
  const vectors = Array.from({ length: queries.rows }, (_, i) => rowOf(queries, i));
  const latencies: number[] = [];
  let next = 0;
  const started = performance.now();
  const send = async () => {
    const sentAt = performance.now();
    await peer.search(vectors[next++ % vectors.length] as Float32Array, limit);
    latencies.push(performance.now() - sentAt);
    return 200;
  };
  const before = peer.cpuSeconds();
  await closedLoop({ send }, { clients }, () => performance.now() - started >= seconds * 1_000);
  const spent = peer.cpuSeconds() - before;
  const elapsed = (performance.now() - started) / 1_000;
  return {
    latencies,
    throughput: latencies.length / elapsed,
    cpu: (spent * 1_000) / latencies.length,
  };
}

/** Measures with all clients and with one, after a warm-up; medians over the rounds. */
export async function measureSearches(
  peer: Peer,
  queries: Matrix,
  { limit, clients, seconds, rounds }: Load,
): Promise<Measured> {
  await loop(peer, queries, limit, clients, Math.min(1, seconds));
  const many: Awaited<ReturnType<typeof loop>>[] = [];
  const single: number[] = [];
  for (let round = 0; round < rounds; round++) {
    many.push(await loop(peer, queries, limit, clients, seconds));
    single.push(median((await loop(peer, queries, limit, 1, seconds / 2)).latencies));
  }
  const of = (read: (run: (typeof many)[number]) => number) => median(many.map(read));
  return {
    throughput: of((run) => run.throughput),
    p50: of((run) => median(run.latencies)),
    p99: of((run) => quantile(run.latencies, 0.99)),
    alone: median(single),
    cpu: of((run) => run.cpu),
  };
}

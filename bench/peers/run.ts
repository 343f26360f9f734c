/**
 * Tessera and other engines in one run: the same vectors, the same queries, at the same recall.
 *
 *   bun bench/peers/run.ts [--vectors 20000] [--dimension 768] [--data text] [--queries 500]
 *                          [--limit 10] [--clients 16] [--seconds 5] [--rounds 2]
 *                          [--peers usearch,lancedb,pgvector] [--pgvector URL]
 *
 * LanceDB is installed below .cache/peers when it is first named. pgvector is measured in the database that
 * `--pgvector` names, on this machine. `--data` is clusters, text, uniform, duplicates or
 * sparse. bench/peers/README.md describes the work of each engine and the limits of the comparison.
 */

import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { mebibytes, type Output, secondsSince } from "../harness/table.ts";
import { generate } from "../load/data.ts";
import { lancedb } from "./lancedb.ts";
import { type Measured, measureSearches, trueNeighbours, tune } from "./measure.ts";
import { type Peer, Unavailable } from "./peer.ts";
import { pgvector } from "./pgvector.ts";
import { tessera } from "./tessera.ts";
import { usearch } from "./usearch.ts";

export const OPTIONS = {
  vectors: 20_000,
  dimension: 768,
  data: "text",
  queries: 500,
  limit: 10,
  clients: 16,
  seconds: 5,
  rounds: 2,
  peers: "usearch,lancedb,pgvector",
  pgvector: "",
};
type Options = typeof OPTIONS;

/** Less recall than this below Tessera's counts as equal. */
const EQUAL_RECALL = 0.001;

type Opener = () => Promise<Peer> | Peer;

/** The engines by name, each with its opener. */
function enginesOf({ pgvector: url, clients }: Options): Readonly<Record<string, Opener>> {
  return { usearch, lancedb, pgvector: () => pgvector(url, clients) };
}

function openersOf(options: Options): (readonly [name: string, open: Opener])[] {
  const engines = enginesOf(options);
  return options.peers.split(",").map((name) => {
    const open = engines[name];
    if (open === undefined) throw new Error(`--peers are ${Object.keys(engines)}, not ${name}`);
    return [name, open] as const;
  });
}

interface Row extends Measured {
  readonly name: string;
  readonly effort: number;
  readonly recall: number;
  readonly loadSeconds: number;
  readonly bytes: number;
}

/** Names and reasons of the engines that could not be measured. */
type Absent = ReadonlyArray<readonly [name: string, reason: string]>;

function print(out: Output, options: Options, rows: readonly Row[], absent: Absent): void {
  const { vectors, dimension, data, queries, limit, clients } = options;
  out.line(`${vectors} x ${dimension} (${data}), ${queries} queries, limit ${limit}`);
  out.head(
    "engine",
    `recall@${limit}`,
    "effort",
    `searches/s, ${clients} clients`,
    "to Tessera",
    "p50 / p99 ms",
    "p50 ms, 1 client",
    "CPU ms",
    "load s",
    "MiB",
  );
  const [base] = rows as [Row];
  for (const row of rows) {
    const { name, recall, effort, throughput, p50, p99, alone, cpu, loadSeconds, bytes } = row;
    out.row(
      name,
      recall.toFixed(4),
      effort === 0 ? "-" : effort,
      throughput.toFixed(0),
      (throughput / base.throughput).toFixed(2),
      `${p50.toFixed(2)} / ${p99.toFixed(2)}`,
      alone.toFixed(2),
      cpu.toFixed(3),
      loadSeconds.toFixed(1),
      mebibytes(bytes),
    );
  }
  for (const [name, reason] of absent) out.line(`\n${name} was not measured: ${reason}`);
}

export async function run(options: Options, context: BenchContext) {
  const { vectors, dimension, queries: count, limit, clients, seconds, rounds } = options;
  const peers = openersOf(options);
  const { data, queries } = generate(options.data, vectors, count, dimension);
  const truth = trueNeighbours(data, queries, limit);
  const measure = async (open: Opener, target: number): Promise<Row> => {
    const peer = await open();
    const started = performance.now();
    await peer.load(data);
    const loadSeconds = secondsSince(started);
    const { effort, recall } = await tune(peer, queries, truth, target);
    const measured = await measureSearches(peer, queries, { limit, clients, seconds, rounds });
    const bytes = await peer.bytes();
    await peer.close?.();
    return { name: peer.name, effort, recall, loadSeconds, bytes, ...measured };
  };
  const base = await measure(() => tessera(context), 1);
  const rows = [base];
  const absent: Array<readonly [string, string]> = [];
  for (const [name, open] of peers) {
    try {
      rows.push(await measure(open, base.recall - EQUAL_RECALL));
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      absent.push([name, error.message]);
    }
  }
  print(context.out, options, rows, absent);
  return { rows, absent };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

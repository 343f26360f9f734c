/**
 * What shards cost and gain, in the native search core alone.
 *
 *   bun bench/micro/shards.ts [--vectors 200000] [--dimension 768] [--data text|clusters|uniform]
 *                             [--shards 524288,131072] [--threads 2] [--queries 200] [--brief]
 *
 * For each size of a shard it prints the time to build the graphs, with one thread and with `--threads`;
 * recall and CPU time per query; the latency of a query that one thread answers, and one that all
 * cores answer; the latency while graphs are built, which takes one thread; bytes per vector, and
 * the time to write a snapshot and to restore it. `--brief` builds once only, with `--threads`, and
 * leaves out the latency meanwhile.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { appendRows, rangesOf } from "../../support/bench/append-rows.ts";
import { readOptions } from "../../support/bench/options.ts";
import { printHead, printRow, secondsSince } from "../../support/bench/table.ts";
import { quantile } from "../../support/statistics.ts";
import { type DataKind, makeVectors } from "../../support/vectors.ts";

const options = readOptions({
  vectors: 200_000,
  dimension: 768,
  data: "text",
  shards: "524288,131072",
  threads: 2,
  queries: 200,
  brief: false,
});
const { vectors: count, dimension, threads, queries: queryCount } = options;
const NEIGHBOURS = 10;
/** Searches are repeated this often; the median counts. */
const ROUNDS = 3;
const TOLERANCE = 1e-9;

const values = makeVectors(options.data as DataKind, count + queryCount, dimension, 1);
const matrix = { values, dimension, rows: count };
const queries = Array.from({ length: queryCount }, (_, i) => {
  const row = count + i;
  return values.slice(row * dimension, (row + 1) * dimension);
});
const rowsFrom = (first: number, length: number) => Array.from({ length }, (_, i) => first + i);
const print = (name: string, value: string) => printRow(name, value);

function open(name: string, rows: readonly number[]): void {
  native.openProject(name);
  const ordinals = appendRows(name, matrix, rows);
  native.setScope(name, "all", [{ dimension, ranges: rangesOf(ordinals) }]);
}

const search = (name: string, query: Float32Array<ArrayBuffer>) =>
  testing.searchRaw(name, "all", query, dimension, NEIGHBOURS, -1);

function statsOf(name: string) {
  const stats = native.stats(name)?.dimensions[0];
  if (stats === undefined) throw new Error("the project has no vectors");
  const { codes, vectors, graph, ids, rendered } = stats.bytes;
  return { ...stats, total: codes + vectors + graph + ids + rendered };
}

/** Milliseconds of each query, of the median round. */
function latencies(name: string): number[] {
  const rounds = Array.from({ length: ROUNDS }, () =>
    queries.map((query) => {
      const startedAt = performance.now();
      search(name, query);
      return performance.now() - startedAt;
    }),
  );
  return queries.map((_, i) =>
    quantile(
      rounds.map((round) => round[i] as number),
      0.5,
    ),
  );
}

const describe = (times: readonly number[]) =>
  `${quantile(times, 0.5).toFixed(2)} / ${quantile(times, 0.99).toFixed(2)}`;

function recallOf(name: string): number {
  let found = 0;
  for (const query of queries) {
    const truth = testing.exactSearch(name, "all", query, dimension, NEIGHBOURS, -1);
    const least = (truth.scores.at(-1) ?? 0) - TOLERANCE;
    found += search(name, query).scores.filter((score) => score >= least).length;
  }
  return found / (queryCount * Math.min(NEIGHBOURS, count));
}

function cpuMicroseconds(name: string): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    for (const query of queries) search(name, query);
    const spent = process.cpuUsage(before);
    return (spent.user + spent.system) / queryCount;
  });
  return quantile(rounds, 0.5);
}

/** Builds with one thread in the background and searches meanwhile. */
async function latenciesWhileBuilding(name: string): Promise<number[]> {
  native.openProject(name);
  appendRows(name, matrix, rowsFrom(0, count));
  const kept = testing.everyOrdinal(name, dimension);
  const times: number[] = [];
  for (let complete = false; !complete; ) {
    const step = native.maintain(name, dimension, kept, 1);
    let running = true;
    void step.finally(() => {
      running = false;
    });
    while (running) {
      const startedAt = performance.now();
      search("built", queries[times.length % queryCount] as Float32Array<ArrayBuffer>);
      times.push(performance.now() - startedAt);
      await Bun.sleep(0);
    }
    complete = (await step).complete;
  }
  return times;
}

async function measureSnapshot(name: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tessera-shards-"));
  let startedAt = performance.now();
  await native.snapshot(name, folder, new Uint8Array());
  const written = secondsSince(startedAt);
  native.dropProject(name);
  startedAt = performance.now();
  await native.restore(name, folder);
  print(
    "snapshot written / restored, s",
    `${written.toFixed(1)} / ${secondsSince(startedAt).toFixed(1)}`,
  );
  rmSync(folder, { recursive: true });
}

async function measure(shardVectors: number): Promise<void> {
  testing.setShardNodes(shardVectors);
  process.stdout.write(`\nshards of ${shardVectors.toLocaleString("en")} vectors\n`);
  printHead("", "");
  const times = [...(options.brief ? [] : [1]), threads].map((builders) => {
    native.dropProject("built");
    open("built", rowsFrom(0, count));
    const startedAt = performance.now();
    testing.maintainSync("built", dimension, builders);
    return secondsSince(startedAt);
  });
  const together = times.at(-1) as number;
  const alone = times[0] as number;
  const stats = statsOf("built");
  print("shards", `${stats.shards}`);
  print(`built by 1 / ${threads} threads, s`, `${alone.toFixed(1)} / ${together.toFixed(1)}`);
  print("gain of the threads", (alone / together).toFixed(2));
  print(
    "bytes per vector besides the vector",
    `${Math.round((stats.total - stats.bytes.vectors) / count)}`,
  );
  print(`recall@${NEIGHBOURS}`, recallOf("built").toFixed(4));
  testing.useHelpers(false);
  print("CPU per query, us", cpuMicroseconds("built").toFixed(0));
  const idle = latencies("built");
  print("p50 / p99 of a query by one thread, ms", describe(idle));
  if (!options.brief) {
    print(
      "p50 / p99 while a graph is built, ms",
      describe(await latenciesWhileBuilding("growing")),
    );
    native.dropProject("growing");
  }
  testing.useHelpers(true);
  const helped = latencies("built");
  print("p50 / p99 of a query by all cores, ms", describe(helped));
  print("all cores to one, p50", (quantile(helped, 0.5) / quantile(idle, 0.5)).toFixed(2));
  await measureSnapshot("built");
  native.dropProject("built");
}

process.stdout.write(`${count.toLocaleString("en")} x ${dimension}, ${options.data}\n`);
for (const size of options.shards.split(",")) await measure(Number(size));

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
 * leaves out the latency meanwhile. The yardstick is raw USearch over the same vectors in this process: the time
 * of its `add` with `--threads`, and the CPU per query with which it reaches the same recall.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { type DataKind, makeVectors } from "../../support/vectors.ts";
import { appendRows, rangesOf } from "../harness/append-rows.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { cpuMicroseconds, type Spent, spentBy, sumOf } from "../harness/process-usage.ts";
import { median, quantile } from "../harness/statistics.ts";
import { type Output, secondsSince } from "../harness/table.ts";
import type { Matrix } from "../harness/vector-files.ts";
import { Baseline, ratioText } from "../recall/usearch.ts";

export const OPTIONS = {
  vectors: 200_000,
  dimension: 768,
  data: "text",
  shards: "524288,131072",
  threads: 2,
  queries: 200,
  brief: false,
};
type Options = typeof OPTIONS;

const NEIGHBOURS = 10;
/** Searches are repeated this often; the median counts. */
const ROUNDS = 3;
const TOLERANCE = 1e-9;

interface Vectors {
  readonly matrix: Matrix;
  readonly queries: readonly Float32Array<ArrayBuffer>[];
}

interface Data extends Vectors {
  /** The scores of the nearest vectors of each query, best first. */
  readonly truth: readonly Float64Array[];
}

function makeData({ data, vectors: count, queries: queryCount, dimension }: Options): Data {
  const values = makeVectors(data as DataKind, count + queryCount, dimension, 1);
  const matrix = { values, dimension, rows: count };
  const queries = Array.from({ length: queryCount }, (_, i) =>
    values.slice((count + i) * dimension, (count + i + 1) * dimension),
  );
  fill("exact", { matrix, queries });
  const truth = queries.map(
    (query) => testing.exactSearch("exact", "all", query, dimension, NEIGHBOURS, -1).scores,
  );
  native.dropProject("exact");
  return { matrix, queries, truth };
}

const rowsOf = ({ rows }: Matrix) => Array.from({ length: rows }, (_, row) => row);

/** Appends all vectors to a new project. */
function append(name: string, { matrix }: Vectors): Uint32Array {
  native.openProject(name);
  return appendRows(name, matrix, rowsOf(matrix));
}

/** Appends all vectors to a new project with a scope of all of them. */
function fill(name: string, vectors: Vectors): void {
  const { dimension } = vectors.matrix;
  native.setScope(name, "all", [{ dimension, ranges: rangesOf(append(name, vectors)) }]);
}

const search = (name: string, query: Float32Array<ArrayBuffer>) =>
  testing.searchRaw(name, "all", query, query.length, NEIGHBOURS, -1);

function statsOf(name: string) {
  const stats = native.stats(name)?.dimensions[0];
  if (stats === undefined) throw new Error("the project has no vectors");
  const { codes, vectors, graph, ids, rendered } = stats.bytes;
  return { ...stats, total: codes + vectors + graph + ids + rendered };
}

/** Milliseconds of each query, of the median round. */
function latencies(name: string, { queries }: Data): number[] {
  const rounds = Array.from({ length: ROUNDS }, () =>
    queries.map((query) => {
      const startedAt = performance.now();
      search(name, query);
      return performance.now() - startedAt;
    }),
  );
  return queries.map((_, i) => median(rounds.map((round) => round[i] as number)));
}

const describe = (times: readonly number[]) =>
  `${quantile(times, 0.5).toFixed(2)} / ${quantile(times, 0.99).toFixed(2)}`;

function recallOf(name: string, { matrix, queries, truth }: Data): number {
  let found = 0;
  for (const [i, query] of queries.entries()) {
    const least = (truth[i]?.at(-1) ?? 0) - TOLERANCE;
    found += search(name, query).scores.filter((score) => score >= least).length;
  }
  return found / (queries.length * Math.min(NEIGHBOURS, matrix.rows));
}

/** Builds with one thread in the background and searches meanwhile. */
async function latenciesWhileBuilding(name: string, data: Data): Promise<number[]> {
  append(name, data);
  const { dimension } = data.matrix;
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
      const query = data.queries[times.length % data.queries.length];
      search("built", query as Float32Array<ArrayBuffer>);
      times.push(performance.now() - startedAt);
      await Bun.sleep(0);
    }
    complete = (await step).complete;
  }
  native.dropProject(name);
  return times;
}

async function measureSnapshot(name: string) {
  const folder = mkdtempSync(join(tmpdir(), "tessera-shards-"));
  let startedAt = performance.now();
  await native.snapshot(name, folder, new Uint8Array());
  const written = secondsSince(startedAt);
  native.dropProject(name);
  startedAt = performance.now();
  await native.restore(name, folder);
  const restored = secondsSince(startedAt);
  rmSync(folder, { recursive: true });
  return { written, restored };
}

/** What it takes to append the vectors, and to build the graphs with these threads. */
function build(data: Data, threads: number) {
  native.dropProject("built");
  const { dimension } = data.matrix;
  return {
    appending: spentBy(() => fill("built", data)),
    graphs: spentBy(() => testing.maintainSync("built", dimension, threads)),
  };
}

/** Raw USearch over the same vectors. */
function measureYardstick({ matrix, queries, truth }: Data, threads: number) {
  const folder = mkdtempSync(join(tmpdir(), "tessera-shards-"));
  const baseline = Baseline.build(matrix, rowsOf(matrix), folder, "yardstick", threads);
  const points = baseline.curve(queries, truth, NEIGHBOURS);
  rmSync(folder, { recursive: true });
  return { adding: baseline.adding, points };
}

type Build = ReturnType<typeof build>;

async function measure(data: Data, { brief, threads, vectors }: Options) {
  const builds = [...(brief ? [] : [1]), threads].map((builders) => build(data, builders));
  const stats = statsOf("built");
  const recall = recallOf("built", data);
  testing.useHelpers(false);
  const { queries } = data;
  const rounds = Array.from({ length: ROUNDS }, () =>
    cpuMicroseconds(queries.length, (i) => {
      search("built", queries[i] as Float32Array<ArrayBuffer>);
    }),
  );
  const idle = latencies("built", data);
  const building = brief ? undefined : await latenciesWhileBuilding("growing", data);
  testing.useHelpers(true);
  const helped = latencies("built", data);
  const snapshot = await measureSnapshot("built");
  const restoredRecall = recallOf("built", data);
  native.dropProject("built");
  return {
    shards: stats.shards,
    ...{ alone: builds[0] as Build, together: builds.at(-1) as Build },
    overhead: (stats.total - stats.bytes.vectors) / vectors,
    ...{ recall, restoredRecall, cpu: median(rounds), idle, building, helped, snapshot },
  };
}

const describeSpent = ({ seconds, cpu }: Spent) => `${seconds.toFixed(1)} / ${cpu.toFixed(1)}`;

type Figures = Awaited<ReturnType<typeof measure>>;

function print(
  out: Output,
  size: number,
  threads: number,
  figures: Figures,
  yardstick: ReturnType<typeof measureYardstick>,
): void {
  const { shards, alone, together, overhead, recall, cpu, idle, building, helped } = figures;
  const { written, restored } = figures.snapshot;
  out.line(`\nshards of ${size.toLocaleString("en")} vectors`);
  out.head("", "");
  out.row("shards", shards);
  const times = [alone, together].map(({ graphs }) => graphs.seconds.toFixed(1));
  out.row(`graphs built by 1 / ${threads} threads, s`, times.join(" / "));
  out.row("gain of the threads", (alone.graphs.seconds / together.graphs.seconds).toFixed(2));
  const whole = sumOf(together.appending, together.graphs);
  const { adding, points } = yardstick;
  out.row("appended and built, s / CPU s", describeSpent(whole));
  out.row(`added to raw USearch by ${threads} threads`, describeSpent(adding));
  out.row("CPU, to raw USearch", (whole.cpu / adding.cpu).toFixed(2));
  out.row("bytes per vector besides the vector", Math.round(overhead));
  out.row(`recall@${NEIGHBOURS}`, recall.toFixed(4));
  out.row("CPU per query, us", cpu.toFixed(0));
  out.row("to raw USearch at the same recall", ratioText(points, recall, cpu));
  out.row("p50 / p99 of a query by one thread, ms", describe(idle));
  if (building) out.row("p50 / p99 while a graph is built, ms", describe(building));
  out.row("p50 / p99 of a query by all cores, ms", describe(helped));
  out.row("all cores to one, p50", (quantile(helped, 0.5) / quantile(idle, 0.5)).toFixed(2));
  out.row("snapshot written / restored, s", `${written.toFixed(1)} / ${restored.toFixed(1)}`);
}

export async function run(options: Options, { out }: BenchContext) {
  const data = makeData(options);
  const { vectors, dimension } = options;
  out.line(`${vectors.toLocaleString("en")} x ${dimension}, ${options.data}`);
  const yardstick = measureYardstick(data, options.threads);
  const all: Figures[] = [];
  const usual = native.setShardNodes(Number(options.shards.split(",")[0]));
  for (const size of options.shards.split(",").map(Number)) {
    native.setShardNodes(size);
    const figures = await measure(data, options);
    print(out, size, options.threads, figures, yardstick);
    all.push(figures);
  }
  native.setShardNodes(usual);
  return { yardstick, all };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

/**
 * What shards cost and gain, in the native search core alone.
 *
 *   bun bench/micro/shards.ts [--vectors 200000] [--dimension 768] [--data text|clusters|uniform]
 *                             [--shards 524288,131072] [--threads 2] [--queries 200]
 *
 * For each size of a shard it prints the time to build the graphs with `--threads`; recall and CPU time per query;
 * the latency of a query that one thread answers, and one that all cores answer; and bytes per vector. The
 * yardstick is raw USearch over the same vectors in this process: the time of its `add` with `--threads`, and the
 * CPU per query with which it reaches the same recall.
 */
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { type DataKind, makeVectors } from "../../support/vectors.ts";
import { slices } from "../harness/content.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { cpuMicroseconds, type Spent, spentBy } from "../harness/process-usage.ts";
import { mean, median, quantile } from "../harness/statistics.ts";
import type { Output } from "../harness/table.ts";
import type { Matrix } from "../harness/vector-files.ts";
import { foundOf, Project } from "../recall/project.ts";
import { Baseline, ratioText } from "../recall/usearch.ts";

export const OPTIONS = {
  vectors: 200_000,
  dimension: 768,
  data: "text",
  shards: "524288,131072",
  threads: 2,
  queries: 200,
};
type Options = typeof OPTIONS;

const NEIGHBOURS = 10;
/** Searches are repeated this often; the median counts. */
const ROUNDS = 3;
const SCOPE = "all";

interface Data {
  readonly matrix: Matrix;
  readonly rows: readonly number[];
  readonly queries: readonly Float32Array<ArrayBuffer>[];
}

function makeData({ data, vectors: count, queries, dimension }: Options): Data {
  const values = makeVectors(data as DataKind, count + queries, dimension, 1);
  return {
    matrix: { values, dimension, rows: count },
    rows: Array.from({ length: count }, (_, row) => row),
    queries: slices(values, dimension, count),
  };
}

/** Milliseconds of each query, of the median round. */
function latencies(project: Project, { queries }: Data): number[] {
  const rounds = Array.from({ length: ROUNDS }, () =>
    queries.map((query) => {
      const startedAt = performance.now();
      project.search(SCOPE, query, NEIGHBOURS);
      return performance.now() - startedAt;
    }),
  );
  return queries.map((_, i) => median(rounds.map((round) => round[i] as number)));
}

/** The scores of the nearest vectors of each query, best first. */
type Truth = readonly Float64Array[];

/** An index of all vectors, and what it takes to append them and to build the graphs. */
function build({ matrix, rows }: Data, threads: number): { project: Project; built: Spent } {
  let project: Project | undefined;
  const built = spentBy(() => {
    project = new Project(matrix, rows, "bulk", threads);
  });
  project?.setScope(SCOPE, rows);
  return { project: project as Project, built };
}

function measure(data: Data, truth: Truth, { threads, vectors }: Options) {
  const { queries } = data;
  const { project, built } = build(data, threads);
  const { shards, bytes } = project.stats();
  const shares = queries.map((query, i) => {
    const { scores } = project.search(SCOPE, query, NEIGHBOURS);
    return foundOf(scores, truth[i] as Float64Array, NEIGHBOURS);
  });
  testing.useHelpers(false);
  const rounds = Array.from({ length: ROUNDS }, () =>
    cpuMicroseconds(queries.length, (i) => {
      project.search(SCOPE, queries[i] as Float32Array<ArrayBuffer>, NEIGHBOURS);
    }),
  );
  const alone = latencies(project, data);
  testing.useHelpers(true);
  const helped = latencies(project, data);
  project.drop();
  const overhead = (bytes.codes + bytes.graph + bytes.ids + bytes.rendered) / vectors;
  return { shards, built, overhead, recall: mean(shares), cpu: median(rounds), alone, helped };
}

const describe = (times: readonly number[]) =>
  `${quantile(times, 0.5).toFixed(2)} / ${quantile(times, 0.99).toFixed(2)}`;
const describeSpent = ({ seconds, cpu }: Spent) => `${seconds.toFixed(1)} / ${cpu.toFixed(1)}`;

type Figures = ReturnType<typeof measure>;
type Yardstick = { readonly adding: Spent; readonly points: ReturnType<Baseline["curve"]> };

function print(out: Output, size: number, figures: Figures, { adding, points }: Yardstick): void {
  const { shards, built, overhead, recall, cpu, alone, helped } = figures;
  out.line(`\nshards of ${size.toLocaleString("en")} vectors`);
  out.head("", "");
  out.row("shards", shards);
  out.row("appended and built, s / CPU s", describeSpent(built));
  out.row("added to raw USearch, s / CPU s", describeSpent(adding));
  out.row("CPU, to raw USearch", (built.cpu / adding.cpu).toFixed(2));
  out.row("bytes per vector besides the vector", Math.round(overhead));
  out.row(`recall@${NEIGHBOURS}`, recall.toFixed(4));
  out.row("CPU per query, us", cpu.toFixed(0));
  out.row("to raw USearch at the same recall", ratioText(points, recall, cpu));
  out.row("p50 / p99 of a query by one thread, ms", describe(alone));
  out.row("p50 / p99 of a query by all cores, ms", describe(helped));
  out.row("all cores to one, p50", (quantile(helped, 0.5) / quantile(alone, 0.5)).toFixed(2));
}

export async function run(options: Options, { out }: BenchContext) {
  const data = makeData(options);
  const { vectors, dimension, threads } = options;
  const { matrix, rows, queries } = data;
  out.line(`${vectors.toLocaleString("en")} x ${dimension}, ${options.data}`);
  const { project } = build(data, threads);
  const truth = queries.map((query) => project.exactScores(SCOPE, query, NEIGHBOURS));
  project.drop();
  const folder = temporaryFolder("shards");
  const baseline = Baseline.build(matrix, rows, folder, "yardstick", threads);
  const points = baseline.curve(queries, truth, NEIGHBOURS);
  const yardstick = { adding: baseline.adding, points };
  const all: Figures[] = [];
  const sizes = options.shards.split(",").map(Number);
  const usual = native.setShardNodes(sizes[0] as number);
  for (const size of sizes) {
    native.setShardNodes(size);
    const figures = measure(data, truth, options);
    print(out, size, figures, yardstick);
    all.push(figures);
  }
  native.setShardNodes(usual);
  return { yardstick, all };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

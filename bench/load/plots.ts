import { BINS_PER_DECADE, FIRST_BIN_MS, type Percentiles } from "./recorder.ts";
import type { LoadResult } from "./result.ts";
import { describeArrival, type LoadRun } from "./runs.ts";
import { heatMap, linear, logarithmic, plot, type Series, short, X_RANGE, Y_RANGE } from "./svg.ts";

const PERCENTILES: ReadonlyArray<readonly [name: string, of: (figures: Percentiles) => number]> = [
  ["p50", ({ p50 }) => p50],
  ["p90", ({ p90 }) => p90],
  ["p99", ({ p99 }) => p99],
  ["p99.9", ({ p99_9 }) => p99_9],
];

const spanOf = (values: readonly number[]) =>
  [Math.max(1e-3, Math.min(...values)), Math.max(1e-3, ...values)] as const;

/** Percentiles over the rate of requests; undefined without at least two open loops. */
export function latencyOverLoad({ runs }: LoadResult): string | undefined {
  const open = runs.flatMap((run) =>
    run.arrival.kind === "open" ? [{ rate: run.arrival.rate, response: run.response }] : [],
  );
  if (open.length < 2) return undefined;
  open.sort((a, b) => a.rate - b.rate);
  const series: Series[] = PERCENTILES.map(([name, of]) => ({
    name,
    points: open.map(({ rate, response }) => {
      const text = `${short(of(response))} ms at ${rate}/s`;
      return { x: rate, y: of(response), text };
    }),
  }));
  const values = series.flatMap(({ points }) => points.map(({ y }) => y));
  const rates = linear([0, Math.max(...open.map(({ rate }) => rate))], X_RANGE);
  return plot(
    "Latency over load",
    { label: "requests per second", scale: rates },
    { label: "latency, ms", scale: logarithmic(spanOf(values), Y_RANGE) },
    series,
  );
}

/** Recall and throughput of the closed loops at each limit; undefined with fewer than two. */
export function recallOverThroughput({ runs, recall }: LoadResult): string | undefined {
  const points = recall.flatMap(({ limit, recall: share }) => {
    const run = runs.find((each) => each.arrival.kind === "closed" && each.limit === limit);
    if (run === undefined || share === null) return [];
    const text = `recall ${share.toFixed(4)}, ${short(run.throughput)} answers/s`;
    return [{ name: `limit ${limit}`, points: [{ x: share, y: run.throughput, text }] }];
  });
  if (points.length < 2) return undefined;
  const shares = points.flatMap((each) => each.points.map(({ x }) => x));
  const most = Math.max(...points.flatMap((each) => each.points.map(({ y }) => y)));
  const lowest = Math.min(0.99, ...shares);
  return plot(
    "Recall against throughput",
    { label: "recall", scale: linear([lowest, 1], X_RANGE) },
    { label: "answers per second", scale: linear([0, most], Y_RANGE) },
    points,
  );
}

/** Shares as an axis that gives each further nine the same room. */
const NINES: ReadonlyArray<readonly [share: number, label: string]> = [
  [0, "0"],
  [0.5, "50"],
  [0.9, "90"],
  [0.99, "99"],
  [0.999, "99.9"],
  [0.9999, "99.99"],
];
const LAST_SHARE = 0.9999;
const nines = (share: number) => -Math.log10(1 - Math.min(share, LAST_SHARE));

/** Names of runs, no two of which are equal. */
function namesOf(runs: readonly LoadRun[]): string[] {
  const seen = new Map<string, number>();
  return runs.map(({ arrival, limit }) => {
    const name = `${describeArrival(arrival).replace("clients", "cl.")}, limit ${limit}`;
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : `${name}, run ${times}`;
  });
}

/** The distribution of the latency of each run. */
export function distributions({ runs }: LoadResult): string {
  const names = namesOf(runs);
  const series: Series[] = runs.map((run, i) => ({
    name: names[i] as string,
    points: run.curve
      .filter(([share]) => share <= LAST_SHARE)
      .map(([share, ms]) => ({
        x: share,
        y: Math.max(ms, 1e-3),
        text: `${short(share * 100)}% within ${short(ms)} ms, limit ${run.limit}`,
      })),
  }));
  const scale = linear([0, nines(LAST_SHARE)], X_RANGE);
  const values = series.flatMap(({ points }) => points.map(({ y }) => y));
  return plot(
    "Distribution of the latency",
    {
      label: "percentile",
      scale: { at: (share) => scale.at(nines(share)), ticks: NINES },
    },
    { label: "latency, ms", scale: logarithmic(spanOf(values), Y_RANGE) },
    series,
  );
}

const edgeOf = (bin: number) => FIRST_BIN_MS * 10 ** (bin / BINS_PER_DECADE);

/** How many requests of each second took how long. */
export function latencyOverTime(run: LoadRun): string {
  const used = run.heat.flatMap((bins) => bins.flatMap((count, bin) => (count > 0 ? [bin] : [])));
  const span = [edgeOf(Math.min(...used, 0)), edgeOf(Math.max(...used, 0) + 1)] as const;
  return heatMap(
    `Latency over time: ${describeArrival(run.arrival)}`,
    { label: "second", scale: linear([0, run.heat.length], X_RANGE) },
    { label: "latency, ms", scale: logarithmic(span, Y_RANGE) },
    run.heat,
    edgeOf,
  );
}

/**
 * Mixed load for a long time, and whether memory, handles and event-loop delay stay flat.
 *
 *   bun bench/soak/run.ts [--minutes 30] [--sample 10] [--projects 24] [--files 400]
 *                         [--chunks-per-file 5] [--dimension 768] [--variants 4]
 *                         [--memory-mb 32] [--rate 1] [--plot docs/soak.svg] [--no-check]
 *
 * The real server on an embedded PostgreSQL gets searches, lookups, imports, releases, deliveries and
 * new keys at fixed rates. A quarter of the projects is in use for 90 seconds, then the next quarter.
 * `--memory-mb` is less than all indexes need, so idle projects are unloaded and loaded again. Files
 * alternate between a few contents, so that the data does not grow for good. Samples are taken every
 * `--sample` seconds and plotted. The exit status is 1 if the mean of the last third of the samples
 * exceeds that of the middle third by more than the growth that is allowed, or if a request failed;
 * `--no-check` only reports.
 */
import { writeFileSync } from "node:fs";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { Api } from "../harness/requests.ts";
import type { BenchServer } from "../harness/server.ts";
import { type Output, secondsSince } from "../harness/table.ts";
import { SoakLoad } from "./load.ts";
import { plot } from "./plot.ts";
import { type Sample, SERIES, type Trend, takeSample, trendsOf } from "./sampler.ts";
import { SoakWorld } from "./world.ts";

export const OPTIONS = {
  minutes: 30,
  sample: 10,
  projects: 24,
  files: 400,
  "chunks-per-file": 5,
  dimension: 768,
  variants: 4,
  "memory-mb": 32,
  rate: 1,
  plot: "",
  check: true,
};
type Options = typeof OPTIONS;

const SECONDS_PER_MINUTE = 60;
const SHOWN_FAILURES = 5;
const NDJSON = "application/x-ndjson";
/** A trend needs one in each third of the time. */
const SAMPLES_MIN = 3;

async function fill(api: Api, world: SoakWorld): Promise<void> {
  for (const { slug } of world.projects) {
    const path = `/projects/${slug}/import`;
    const report = await api.call<{ refused: number }>("POST", path, world.initialFiles(), NDJSON);
    if (report.refused !== 0)
      throw new Error(`${slug} was not imported: ${JSON.stringify(report)}`);
  }
}

async function sampleAll(server: BenchServer, { sample }: Options, count: number) {
  const samples: Sample[] = [];
  const begun = performance.now();
  while (samples.length < count) {
    await Bun.sleep(begun + (samples.length + 1) * sample * 1_000 - performance.now());
    samples.push(await takeSample(server, secondsSince(begun) / SECONDS_PER_MINUTE));
  }
  return samples;
}

function print(out: Output, trends: readonly Trend[], { counts }: SoakLoad): void {
  out.head("series", "middle third", "last third", "flat");
  for (const { name, middle, last, isFlat } of trends) {
    const { title, unit } = SERIES[name];
    out.row(`${title} ${unit}`.trim(), middle.toFixed(1), last.toFixed(1), isFlat ? "yes" : "NO");
  }
  const { answered, overloaded, failures } = counts;
  const kinds = [...answered].map(([name, times]) => `${times} ${name}`);
  out.line(`answered: ${kinds.join(", ")}; 503: ${overloaded}; failed: ${failures.length}`);
  for (const failure of failures.slice(0, SHOWN_FAILURES)) out.line(failure);
}

function writePlot(options: Options, samples: readonly Sample[], { counts }: SoakLoad): void {
  const rate = [...counts.answered.values()].reduce((sum, times) => sum + times, 0);
  const perSecond = (rate / (options.minutes * SECONDS_PER_MINUTE)).toFixed(0);
  const heading = `${options.minutes} minutes of mixed load, ${perSecond} requests per second`;
  writeFileSync(options.plot, plot(samples, heading));
}

export async function run(options: Options, context: BenchContext) {
  const { env, sql } = await context.openDatabase();
  const world = await SoakWorld.create(sql, {
    projects: options.projects,
    files: options.files,
    variants: options.variants,
    chunksPerFile: options["chunks-per-file"],
    dimension: options.dimension,
  });
  const bytes = String(options["memory-mb"] * 2 ** 20);
  const server = await context.startServer({ ...env, INDEX_MEMORY_BYTES: bytes });
  const api = new Api(server.url, world.key);
  await fill(api, world);
  const load = new SoakLoad(api, world, options.rate);
  const seconds = options.minutes * SECONDS_PER_MINUTE;
  const count = Math.max(SAMPLES_MIN, Math.ceil(seconds / options.sample));
  const [samples] = await Promise.all([
    sampleAll(server, options, count),
    load.run(count * options.sample),
  ]);
  const trends = trendsOf(samples);
  print(context.out, trends, load);
  if (options.plot !== "") writePlot(options, samples, load);
  const { counts } = load;
  const isGood = counts.failures.length === 0 && trends.every(({ isFlat }) => isFlat);
  return { samples, trends, counts, isGood };
}

if (import.meta.main) {
  await runBenchmark(OPTIONS, async (options, context) => {
    const { isGood } = await run(options, context);
    if (!isGood && options.check) process.exitCode = 1;
  });
}

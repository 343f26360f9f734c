/**
 * Mixed load for a long time, and whether memory, handles and event-loop delay stay flat.
 *
 *   bun bench/soak/run.ts [--minutes 30] [--sample 10] [--projects 24] [--files 400]
 *                         [--chunks-per-file 5] [--dimension 768] [--variants 4]
 *                         [--memory-mb 32] [--plot docs/soak.svg] [--no-check]
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
import { startDatabase } from "../../support/bench/database.ts";
import { readOptions } from "../../support/bench/options.ts";
import { BenchServer } from "../../support/bench/server.ts";
import { printHead, printRow, secondsSince } from "../../support/bench/table.ts";
import { runProgram } from "../../support/processes/run-program.ts";
import { SoakLoad } from "./load.ts";
import { plot } from "./plot.ts";
import { type Sample, SERIES, takeSample, trendsOf } from "./sampler.ts";
import { SoakWorld } from "./world.ts";

const options = readOptions({
  minutes: 30,
  sample: 10,
  projects: 24,
  files: 400,
  "chunks-per-file": 5,
  dimension: 768,
  variants: 4,
  "memory-mb": 32,
  plot: "",
  check: true,
});
const SECONDS_PER_MINUTE = 60;
const SHOWN_FAILURES = 5;

async function fill(server: BenchServer, world: SoakWorld): Promise<void> {
  for (const { slug } of world.projects) {
    const response = await fetch(new URL(`/projects/${slug}/import`, server.url), {
      method: "POST",
      headers: { ...world.headers, "content-type": "application/x-ndjson" },
      body: world.initialFiles(),
    });
    const { refused } = (await response.json()) as { refused: number };
    if (refused !== 0) throw new Error(`${refused} files of ${slug} were refused`);
  }
}

async function sampleAll(server: BenchServer): Promise<Sample[]> {
  const samples: Sample[] = [];
  const begun = performance.now();
  const minutes = () => secondsSince(begun) / SECONDS_PER_MINUTE;
  while (minutes() < options.minutes) {
    await Bun.sleep(options.sample * 1_000);
    samples.push(await takeSample(server, minutes()));
  }
  return samples;
}

function report(samples: readonly Sample[], load: SoakLoad): boolean {
  const trends = trendsOf(samples);
  printHead("series", "middle third", "last third", "flat");
  for (const { name, middle, last, isFlat } of trends) {
    const { title, unit } = SERIES[name];
    printRow(`${title} ${unit}`.trim(), middle.toFixed(1), last.toFixed(1), isFlat ? "yes" : "NO");
  }
  const { answered, overloaded, failures } = load.counts;
  const kinds = [...answered].map(([name, times]) => `${times} ${name}`);
  console.log(`answered: ${kinds.join(", ")}; 503: ${overloaded}; failed: ${failures.length}`);
  for (const failure of failures.slice(0, SHOWN_FAILURES)) console.log(failure);
  return failures.length === 0 && trends.every(({ isFlat }) => isFlat);
}

await runProgram(async () => {
  const { dataDir, sql } = await startDatabase();
  const world = await SoakWorld.create(sql, {
    ...{ projects: options.projects, files: options.files, variants: options.variants },
    ...{ chunksPerFile: options["chunks-per-file"], dimension: options.dimension },
  });
  const variables = {
    DATA_DIR: dataDir,
    INDEX_MEMORY_BYTES: String(options["memory-mb"] * 2 ** 20),
  };
  const server = await BenchServer.start(variables);
  await fill(server, world);
  const load = new SoakLoad(server, world);
  load.start();
  const samples = await sampleAll(server);
  await load.stop();
  const isGood = report(samples, load);
  if (options.plot !== "") {
    const rate = [...load.counts.answered.values()].reduce((sum, times) => sum + times, 0);
    const perSecond = (rate / (options.minutes * SECONDS_PER_MINUTE)).toFixed(0);
    const heading = `${options.minutes} minutes of mixed load, ${perSecond} requests per second`;
    writeFileSync(options.plot, plot(samples, heading));
  }
  if (!isGood && options.check) process.exitCode = 1;
});

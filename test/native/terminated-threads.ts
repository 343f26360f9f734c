/**
 * Terminates threads while they load the addon and throw errors in it (`loader`), or while they wait
 * for its jobs (`jobs`), in a folder. Prints how many.
 */
import { Worker } from "node:worker_threads";
import { openProject } from "../../native/index.ts";
import { makeVectors } from "../../support/vectors.ts";
import { appendAll, setScope, upTo } from "./support.ts";
import type { JobsOptions } from "./terminated-jobs.ts";

/** About what a thread takes to load the addon. */
const LOADING_MS = 40;
/** How long threads go on after they have begun jobs, at most. */
const JOBS_MS = 60;
const THREADS = 4;
const CHUNKS = 10;
const DIMENSION = 768;

const begun = (thread: Worker) => new Promise((resolve) => thread.once("message", resolve));

async function terminate(rounds: number, file: string, longestMs: number, options?: JobsOptions) {
  for (let round = 0; round < rounds; round++) {
    const threads = Array.from(
      { length: THREADS },
      () => new Worker(new URL(file, import.meta.url), { workerData: options }),
    );
    if (options !== undefined) await Promise.all(threads.map(begun));
    await Bun.sleep((longestMs * round) / rounds);
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}

const [, , kind, rounds, folder = ""] = process.argv;
if (kind === "jobs") {
  const project = "terminated";
  openProject(project);
  appendAll(project, DIMENSION, makeVectors("clusters", CHUNKS, DIMENSION, 1));
  setScope(project, "all", DIMENSION, upTo(CHUNKS));
  const options = { project, scope: "all", dimension: DIMENSION, folder };
  await terminate(Number(rounds), "./terminated-jobs.ts", JOBS_MS, options);
} else {
  await terminate(Number(rounds), "./terminated-loader.ts", 2 * LOADING_MS);
}
process.stdout.write(`${Number(rounds) * THREADS}\n`);

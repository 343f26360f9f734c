/** A thread that begins jobs of each kind over and over, until it is terminated. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { dropProject, maintain, measureRecall, restore, snapshot } from "../../native/index.ts";

export interface JobsOptions {
  readonly project: string;
  readonly scope: string;
  readonly dimension: number;
  readonly folder: string;
}

const JOBS_AT_ONCE = 4;

const { project, scope, dimension, folder } = workerData as JobsOptions;
const vector = new Float32Array(dimension).fill(1).buffer;

async function repeat(job: string): Promise<never> {
  for (;;) {
    const parts = await snapshot(project, folder);
    await restore(`${project}#${job}`, folder, parts);
    rmSync(join(folder, parts[0]?.name as string));
    dropProject(`${project}#${job}`);
    await measureRecall({ project, scope, body: vector, dimension, limit: 1, threshold: 0 });
    // It is refused while another thread does it.
    await maintain(project, dimension, null, 1).catch(() => {});
  }
}

for (let job = 0; job < JOBS_AT_ONCE; job++) void repeat(crypto.randomUUID());
parentPort?.postMessage("begun");

/** Terminates threads while they load the addon or throw errors in it. Prints how many. */
import { Worker } from "node:worker_threads";

/** About what a thread takes to load the addon. */
const LOADING_MS = 40;
const THREADS = 4;

const rounds = Number(process.argv[2]);
for (let round = 0; round < rounds; round++) {
  const threads = Array.from(
    { length: THREADS },
    () => new Worker(new URL("./terminated-loader.ts", import.meta.url)),
  );
  await Bun.sleep((2 * LOADING_MS * round) / rounds);
  await Promise.all(threads.map((thread) => thread.terminate()));
}
process.stdout.write(`${rounds * THREADS}\n`);

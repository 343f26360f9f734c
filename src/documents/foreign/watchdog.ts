import { workerData } from "node:worker_threads";

const WATCH_INTERVAL_MS = 20;

/**
 * The entry point of a thread that ends its process: when it takes too much memory, and when the process that has
 * started it is gone. The main thread may be in a loop without end at that time.
 */
const maxBytes = workerData as Float64Array;
const parent = process.ppid;
setInterval(() => {
  if (process.memoryUsage.rss() > (maxBytes[0] ?? 0) || process.ppid !== parent) {
    process.kill(process.pid, "SIGKILL");
  }
}, WATCH_INTERVAL_MS);

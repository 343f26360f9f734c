import { Worker } from "node:worker_threads";
import { readHere } from "../../documents/conversion/folder.ts";
import { RecordError } from "../../documents/errors.ts";
import type { Answer, Order, Result, Task } from "../../documents/foreign/protocol.ts";
import { readParquetRows } from "./tables/parquet.ts";

/** The program of a process that reads files in formats of others, until its owner ends it or has ended. */
const answer = (message: Answer) => process.send?.(message);

async function read(task: Task): Promise<Result<Task>> {
  if (task.kind === "rows") return await readParquetRows(task.file, task.start);
  return await readHere(task.folder, task.path);
}

process.on("disconnect", () => process.exit());
/** The current limits of the process, which the watchdog reads. */
const maxBytes = new Float64Array(new SharedArrayBuffer(8)).fill(Number.POSITIVE_INFINITY);
process.on("message", async (order: Order) => {
  maxBytes[0] = order.maxBytes;
  try {
    answer({ result: await read(order.task) });
  } catch (error) {
    const { message } = error as Error;
    answer({ reason: error instanceof RecordError ? message : `cannot be read: ${message}` });
  }
});
// The watchdog must run before the first file is read.
const watchdog = new Worker(new URL("../../documents/foreign/watchdog.ts", import.meta.url), {
  workerData: maxBytes,
});
watchdog.once("online", () => answer({ ready: true }));

import { Worker } from "node:worker_threads";
import type { Answer, Result, Task } from "./foreign/protocol.ts";
import { readHere } from "./markdown/folder.ts";
import { RecordError } from "./records/errors.ts";
import { readParquetRows } from "./tables/parquet.ts";

/** The program of a process that reads files in formats of others, until its owner ends it or is gone. */
const [maxBytes] = process.argv.slice(2);
const answer = (message: Answer) => process.send?.(message);

async function read(task: Task): Promise<Result<Task>> {
  if (task.kind === "rows") return await readParquetRows(task.file, task.start);
  return await readHere(task.folder, task.path);
}

process.on("disconnect", () => process.exit());
process.on("message", async (task: Task) => {
  try {
    answer({ result: await read(task) });
  } catch (error) {
    const { message } = error as Error;
    answer({ reason: error instanceof RecordError ? message : `cannot be read: ${message}` });
  }
});
// No file is read before somebody watches.
const watchdog = new Worker(new URL("./foreign/watchdog.ts", import.meta.url), {
  workerData: { maxBytes: Number(maxBytes) },
});
watchdog.once("online", () => answer({ ready: true }));

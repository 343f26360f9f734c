import { parentPort, workerData } from "node:worker_threads";
import { IndexingThread } from "./indexing-thread.ts";
import type { IndexerOptions, ToIndexer } from "./messages.ts";

/**
 * The entry point of the indexing thread, the only one that changes indexes. It has database
 * connections of its own. It runs at the same priority as the others: with a lower one, a busy
 * machine would delay changes for too long. None of its tasks takes more than some tens of
 * milliseconds; other threads read and write files for it.
 */
const port = parentPort as NonNullable<typeof parentPort>;
const thread = await IndexingThread.open(workerData as IndexerOptions, (message) =>
  port.postMessage(message),
);
port.on("message", (message: ToIndexer) => thread.receive(message));
await thread.start();

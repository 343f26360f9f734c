import { parentPort, workerData } from "node:worker_threads";
import { setThreadNiceness } from "../../../shared/thread-priority.ts";
import { runSegmentTask, type SegmentReply, type SegmentRequest } from "./segment-task.ts";

/**
 * The entry point of a thread that builds or merges text segments for the indexing thread. Its
 * `workerData` is its niceness.
 */
const port = parentPort as NonNullable<typeof parentPort>;

function reply({ ticket, task }: SegmentRequest): SegmentReply {
  try {
    return { ticket, ...runSegmentTask(task) };
  } catch (error) {
    return { ticket, failure: error instanceof Error ? error.message : String(error) };
  }
}

setThreadNiceness(workerData as number);
port.on("message", (request: SegmentRequest) => port.postMessage(reply(request)));

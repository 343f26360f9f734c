import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { runSegmentTask, type SegmentReply, type SegmentRequest } from "./segment-task.ts";

/**
 * The entry point of a thread that builds or merges text segments for the indexing thread. Its
 * `workerData` is its niceness.
 */
const port = parentPort as NonNullable<typeof parentPort>;

/** On Linux a thread id is a valid argument of setpriority, and niceness belongs to the thread. */
function setNiceness(niceness: number): void {
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    setPriority(thread, niceness);
  } catch {
    // Elsewhere the thread runs like the others.
  }
}

function reply({ ticket, task }: SegmentRequest): SegmentReply {
  try {
    return { ticket, ...runSegmentTask(task) };
  } catch (error) {
    return { ticket, failure: error instanceof Error ? error.message : String(error) };
  }
}

const niceness = workerData as number;
if (niceness !== 0) setNiceness(niceness);
port.on("message", (request: SegmentRequest) => port.postMessage(reply(request)));

import { parentPort } from "node:worker_threads";
import { buildFromRows } from "./build-from-rows.ts";
import type { BuildReply, BuildRequest } from "./build-threads.ts";

/** The entry point of a thread that builds text segments for the indexing thread. */
const port = parentPort as NonNullable<typeof parentPort>;

function reply({ ticket, rows }: BuildRequest): BuildReply {
  try {
    return { ticket, buffer: buildFromRows(rows) };
  } catch (error) {
    return { ticket, failure: error instanceof Error ? error.message : String(error) };
  }
}

port.on("message", (request: BuildRequest) => port.postMessage(reply(request)));

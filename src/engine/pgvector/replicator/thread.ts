import { postEvent, runThread, threadOptions } from "../../../ops/threads/run-thread.ts";
import type { ReplicatorProtocol } from "./messages.ts";
import { ReplicatorThread } from "./replicator-thread.ts";

/** The entry point of the thread that writes vectors to the engine's database. */
const thread = new ReplicatorThread(
  threadOptions<ReplicatorProtocol>(),
  postEvent<ReplicatorProtocol>,
);
runThread<ReplicatorProtocol>({ stop: () => thread.stop() });
thread.start();

import { postEvent, runThread, threadOptions } from "../../ops/threads/run-thread.ts";
import { IndexingThread } from "./indexing-thread.ts";
import type { IndexerProtocol } from "./messages.ts";

/**
 * The entry point of the indexing thread, the only one that changes indexes. It has database
 * connections of its own. It runs at the same priority as the others: with a lower one, a busy
 * machine would delay changes for too long. None of its tasks takes more than some tens of
 * milliseconds; other threads read and write files for it.
 */
const thread = await IndexingThread.open(
  threadOptions<IndexerProtocol>(),
  postEvent<IndexerProtocol>,
);
runThread<IndexerProtocol>({
  run: (task) => thread.run(task),
  receive: (command) => thread.receive(command),
  stop: () => thread.stop(),
});
await thread.start();

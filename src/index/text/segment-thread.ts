import { setThreadNiceness } from "../../ops/thread-priority.ts";
import { runThread, threadOptions } from "../../ops/threads/run-thread.ts";
import { runSegmentTask, type SegmentProtocol } from "./segment-task.ts";

/** The entry point of a thread that builds or merges text segments for the indexing thread. */
setThreadNiceness(threadOptions<SegmentProtocol>().niceness);
runThread<SegmentProtocol>({
  run(task) {
    try {
      return runSegmentTask(task);
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  },
});

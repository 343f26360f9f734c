import { setThreadNiceness } from "../../shared/thread-priority.ts";
import { runThread, threadOptions } from "../../threads/run-thread.ts";
import { type CopyProtocol, CopyWork } from "./copy-task.ts";

/** The entry point of a thread that copies snapshots to the place that nodes share, or from there. */
const { copies, niceness } = threadOptions<CopyProtocol>();
setThreadNiceness(niceness);
const work = new CopyWork(copies);
runThread<CopyProtocol>({ run: (task) => work.run(task) });

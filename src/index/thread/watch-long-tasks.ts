import { INDEX_REPORT_INTERVAL_MS } from "../../domain/limits.ts";
import type { Log } from "../../ops/observability/log.ts";
import { recordTask, takeLongTasks } from "../../ops/observability/long-tasks.ts";

/** How often the thread checks whether its timers run in time. */
const LONG_TASK_PROBE_MS = 5;

/** Logs the tasks that blocked this thread, in milliseconds. `all` is the time in which no timer could run. */
export function watchLongTasks(log: Log): void {
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    recordTask("all", now - last - LONG_TASK_PROBE_MS);
    last = now;
  }, LONG_TASK_PROBE_MS);
  setInterval(() => {
    const tasks = takeLongTasks();
    if (Object.keys(tasks).length > 0) log.debug({ tasks }, "long tasks of the indexing thread");
  }, INDEX_REPORT_INTERVAL_MS);
}

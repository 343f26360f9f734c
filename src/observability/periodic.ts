import type { Log } from "./log.ts";
import { LogLimiter } from "./log-limiter.ts";

interface Periodic {
  /** The name of the work in the log. */
  readonly task: string;
  readonly intervalMs: number;
  readonly log: Log;
  readonly isStopping: () => boolean;
}

/**
 * Runs `work` periodically, never twice at once. A failure is logged once in a while; the next run
 * follows.
 */
export function runPeriodically(
  { task, intervalMs, log, isStopping }: Periodic,
  work: () => Promise<unknown>,
): void {
  let running = false;
  const failures = new LogLimiter();
  setInterval(async () => {
    if (running || isStopping()) return;
    running = true;
    await work().catch((err: unknown) => {
      failures.limited(task, () => log.warn({ err }, `${task} failed`));
    });
    running = false;
  }, intervalMs);
}

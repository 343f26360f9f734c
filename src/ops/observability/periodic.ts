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
 * Runs `work` periodically. Runs do not overlap. A failure is logged at the rate of LogLimiter, and does not prevent
 * the next run.
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

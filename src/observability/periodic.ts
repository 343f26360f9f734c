import type { Log } from "./log.ts";
import { LogLimiter } from "./log-limiter.ts";

interface Periodic {
  /** Names the work in the log. */
  readonly what: string;
  readonly intervalMs: number;
  readonly log: Log;
  readonly isStopping: () => boolean;
}

/**
 * Runs `work` periodically, never twice at once. A failure is logged once in a while; the next run
 * follows.
 */
export function runPeriodically(
  { what, intervalMs, log, isStopping }: Periodic,
  work: () => Promise<unknown>,
): void {
  let running = false;
  const failures = new LogLimiter();
  setInterval(async () => {
    if (running || isStopping()) return;
    running = true;
    await work().catch((err: unknown) => {
      failures.limited(what, () => log.warn({ err }, `${what} failed`));
    });
    running = false;
  }, intervalMs);
}

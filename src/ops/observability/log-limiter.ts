/** Minimum time between two log lines for the same reason. */
const LOG_REPEAT_MS = 60_000;
const LOG_KEYS_MAX = 256;

/** Limits repeated log lines, so that an outage does not fill the log with a line per request. */
export class LogLimiter {
  readonly #last = new Map<string, { at: number; suppressed: number }>();

  constructor(private readonly intervalMs = LOG_REPEAT_MS) {}

  /**
   * Runs `write` unless it ran for the same reason within the interval. It receives the number of
   * times that it did not run since.
   */
  limited(reason: string, write: (suppressed: number) => void): void {
    const now = performance.now();
    const last = this.#last.get(reason);
    if (last !== undefined && now - last.at < this.intervalMs) {
      last.suppressed++;
      return;
    }
    this.#last.delete(reason);
    this.#last.set(reason, { at: now, suppressed: 0 });
    if (this.#last.size > LOG_KEYS_MAX) this.#last.delete(this.#last.keys().next().value as string);
    write(last?.suppressed ?? 0);
  }
}

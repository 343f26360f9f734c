/** After a run, the next one waits for this multiple of its duration. */
const REST_FACTOR = 9;
/** Maximum pause. The work may have been slow because it waited for another resource. */
const REST_MAX_MS = 500;

/**
 * Work that any number of callers may request at any time. Callers who request it while a run is under way or due share
 * the next run. A result is therefore never older than its request, and the work takes at most a tenth of the time.
 */
export class SingleFlight<T> {
  /** The run that has not begun yet. */
  #next: Promise<T> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** The earliest time of the next run, in milliseconds. */
  #restUntil = 0;

  constructor(private readonly work: () => Promise<T>) {}

  /** The result of a run that begins after this call. Rejects as the work does. */
  run(): Promise<T> {
    if (this.#next === undefined) {
      this.#next = this.#runAfter(this.#last);
      this.#last = this.#next.catch(() => {});
    }
    return this.#next;
  }

  async #runAfter(previous: Promise<unknown>): Promise<T> {
    await previous;
    const pause = this.#restUntil - performance.now();
    if (pause > 0) await Bun.sleep(pause);
    this.#next = undefined;
    const startedAt = performance.now();
    try {
      return await this.work();
    } finally {
      const endedAt = performance.now();
      this.#restUntil = endedAt + Math.min(REST_FACTOR * (endedAt - startedAt), REST_MAX_MS);
    }
  }
}

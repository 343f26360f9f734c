/** After a run, the next one waits for this multiple of its duration. */
const REST_FACTOR = 9;
/** It waits no longer than this: the work may have waited for somebody else. */
const REST_MAX_MS = 500;

/**
 * Work that any number of callers may ask for at any time. Callers who ask while a run is under way or due share
 * the next one. So no result is older than its question, and the work takes a tenth of the time at most.
 */
export class SharedWork<T> {
  /** The run that has not begun yet. */
  #next: Promise<T> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** The time in milliseconds before which none begins. */
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

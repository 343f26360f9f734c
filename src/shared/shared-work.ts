/** After work was done, the next waits for so many times as long as it took. */
const REST_FACTOR = 9;
/** It waits no longer than this: the work may have waited for somebody else. */
const REST_MAX_MS = 500;

/**
 * Work for which anybody may ask as often as they like. Those who ask while it is under way or due share the
 * next run. So nobody gets a result from before the question, and however many ask, the work takes a tenth of
 * the time at most.
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

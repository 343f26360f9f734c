/** Runs tasks in the order in which they are given, a few at once. */
export class Lanes {
  #running: Array<Promise<unknown>> = [];

  constructor(private readonly width: number) {}

  /**
   * Starts a task as soon as fewer than `width` run. When one has failed, it waits for the others,
   * throws that failure and starts nothing.
   */
  async start(task: () => Promise<unknown>): Promise<void> {
    if (this.#running.length >= this.width) await this.#settleOldest();
    const running = task();
    // The next wait reports a rejection; until then it must not count as unhandled.
    running.catch(() => {});
    this.#running.push(running);
  }

  /** Resolves when no task runs. Throws the first failure. */
  async settled(): Promise<void> {
    while (this.#running.length > 0) await this.#settleOldest();
  }

  async #settleOldest(): Promise<void> {
    try {
      await this.#running.shift();
    } catch (error) {
      await Promise.allSettled(this.#running);
      this.#running = [];
      throw error;
    }
  }
}

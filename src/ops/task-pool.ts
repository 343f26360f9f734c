/** Starts tasks in order, and runs at most `width` of them concurrently. */
export class TaskPool {
  #running: Array<Promise<unknown>> = [];

  constructor(private readonly width: number) {}

  /**
   * Starts a task as soon as fewer than `width` run. If one has failed, this waits for the others and throws that
   * failure instead.
   */
  async start(task: () => Promise<unknown>): Promise<void> {
    if (this.#running.length >= this.width) await this.#settleOldest();
    const running = task();
    // The next wait reports a rejection. Until then it must not count as unhandled.
    running.catch(() => {});
    this.#running.push(running);
  }

  /** Resolves when all tasks have ended. Throws the first failure. */
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

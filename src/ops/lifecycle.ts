import pTimeout from "p-timeout";

/** Minimum time for each resource to close, even after others have used up the budget. */
const CLOSE_MIN_MS = 50;

/** Open resources, which are closed in reverse order. Push each closer right after its opener. */
export class Resources {
  readonly #closers: Array<{ name: string; close: () => Promise<unknown> | unknown }> = [];

  push(name: string, close: () => Promise<unknown> | unknown): void {
    this.#closers.push({ name, close });
  }

  /**
   * Closes everything within `budgetMs`. Reports a closer that fails or takes too long, and continues
   * with the others.
   */
  async close(budgetMs: number, onError: (name: string, error: unknown) => void): Promise<void> {
    const deadline = performance.now() + budgetMs;
    for (;;) {
      const last = this.#closers.pop();
      if (last === undefined) return;
      try {
        const milliseconds = Math.max(deadline - performance.now(), CLOSE_MIN_MS);
        await pTimeout(Promise.resolve(last.close()), { milliseconds });
      } catch (error) {
        onError(last.name, error);
      }
    }
  }
}

/**
 * How long the main thread may search in one turn of its event loop. Searches and lookups share it: what
 * either takes delays all other requests.
 */
export class TurnBudget {
  #spent = 0;
  #scheduled = false;

  /** @param maxMs 0 leaves all work to other threads */
  constructor(private readonly maxMs: number) {}

  /** True when work of this expected duration may still run in this turn. */
  allows(costMs: number): boolean {
    return this.maxMs > 0 && this.#spent + costMs <= this.maxMs;
  }

  /** Notes how long work has taken. */
  spend(tookMs: number): void {
    this.#spent += tookMs;
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#spent = 0;
    });
  }
}

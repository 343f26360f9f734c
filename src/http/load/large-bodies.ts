import { LARGE_BODY_BYTES } from "../../shared/limits.ts";

/** A tenant waits so many times as long as its last large body has taken, which leaves four fifths of the time to others. */
const PAUSE_FACTOR = 4;

/**
 * Lets each tenant have one large body at a time taken up, with a pause behind it. Parsing and checking a megabyte takes
 * the main thread tens of milliseconds, in which nobody is answered.
 */
export class LargeBodies {
  /** By tenants who have a body taken up or pause, who waits for that. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Resolves when a body of the tenant may be taken up, in the turn of the event loop that follows; undefined for now. */
  turn(tenant: string, bytes: number): Promise<void> | undefined {
    if (bytes < LARGE_BODY_BYTES) return undefined;
    const waiting = this.#waiting.get(tenant);
    if (waiting !== undefined) return new Promise((resolve) => waiting.push(resolve));
    this.#begin(tenant, []);
    return undefined;
  }

  #begin(tenant: string, waiting: (() => void)[]): void {
    this.#waiting.set(tenant, waiting);
    const begun = performance.now();
    setImmediate(() => {
      const took = performance.now() - begun;
      setTimeout(() => this.#next(tenant, waiting), PAUSE_FACTOR * took);
    });
  }

  #next(tenant: string, waiting: (() => void)[]): void {
    const next = waiting.shift();
    if (next === undefined) {
      this.#waiting.delete(tenant);
      return;
    }
    this.#begin(tenant, waiting);
    next();
  }
}

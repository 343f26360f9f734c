/** The error of a call that was not made, because its circuit is open. */
export class CircuitOpen extends Error {
  constructor() {
    super("it did not answer a moment ago");
  }
}

interface BreakerOptions {
  /**
   * The pause between a failure and the next trial, or a function of the consecutive failures and their newest cause.
   */
  readonly pauseMs: number | ((failures: number, cause: unknown) => number);
  /** Minimum time that calls must have failed before the circuit opens. */
  readonly patienceMs?: number;
  /** Called with the cause when the circuit opens, and without one when it closes. */
  readonly onChange?: (isOpen: boolean, cause?: unknown) => void;
  /** Milliseconds of any clock. */
  readonly now?: () => number;
}

/**
 * Breaks the circuit to a dependency that fails: while it is open, calls fail without being made. After a pause one
 * call is made as a trial. The circuit closes when a call succeeds.
 */
export class Breaker {
  #isOpen = false;
  #isTrying = false;
  #failures = 0;
  #failingSince = 0;
  #failedAt = 0;
  #pauseMs = 0;
  readonly #now: () => number;

  constructor(private readonly options: BreakerOptions) {
    this.#now = options.now ?? (() => performance.now());
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True if the newest call failed. The circuit may still be closed. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** True from a failure to the end of the pause, and while a trial is made. */
  get isResting(): boolean {
    if (this.#isTrying) return true;
    const sinceMs = this.#now() - this.#failedAt;
    // A clock may be set back.
    return this.isFailing && sinceMs >= 0 && sinceMs < this.#pauseMs;
  }

  /**
   * Makes a call. Throws CircuitOpen instead while the circuit is open, unless a trial is due. An error for which
   * `isFault` returns false does not count as a failure of the dependency.
   */
  async call<T>(
    work: () => Promise<T>,
    isFault: (error: unknown) => boolean = () => true,
  ): Promise<T> {
    if (this.#isOpen && this.isResting) throw new CircuitOpen();
    const isTrial = this.isFailing;
    this.#isTrying ||= isTrial;
    try {
      const result = await work();
      // The answer to an earlier call may be older than the failure.
      if (isTrial || !this.#isOpen) this.close();
      return result;
    } catch (error) {
      if (isFault(error)) this.#fail(error);
      throw error;
    } finally {
      if (isTrial) this.#isTrying = false;
    }
  }

  /** Forgets all failures. */
  close(): void {
    this.#failures = 0;
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.options.onChange?.(false);
  }

  #fail(cause: unknown): void {
    const { pauseMs, patienceMs = 0, onChange } = this.options;
    this.#failedAt = this.#now();
    if (!this.isFailing) this.#failingSince = this.#failedAt;
    this.#failures++;
    this.#pauseMs = typeof pauseMs === "number" ? pauseMs : pauseMs(this.#failures, cause);
    if (this.#isOpen || this.#failedAt - this.#failingSince < patienceMs) return;
    this.#isOpen = true;
    onChange?.(true, cause);
  }
}

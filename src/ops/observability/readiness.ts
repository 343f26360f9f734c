/** Returns the reason why a part is not ready, in one sentence, or null. */
type ReadinessCheck = () => Promise<string | null>;

interface State {
  /** `degraded` if the service should receive traffic, but some operations do not work. */
  readonly status: "ready" | "degraded" | "not_ready";
  /** The reasons by the name of the check. */
  readonly reasons: Readonly<Record<string, string>>;
}

/** The checks that decide whether the service should receive traffic. */
export class Readiness {
  readonly #checks = new Map<string, { check: ReadinessCheck; isNeeded: boolean }>();

  add(name: string, check: ReadinessCheck): void {
    this.#checks.set(name, { check, isNeeded: true });
  }

  /** Adds the check of a part without which the service answers most requests. */
  addUseful(name: string, check: ReadinessCheck): void {
    this.#checks.set(name, { check, isNeeded: false });
  }

  async state(): Promise<State> {
    const found = await Promise.all(
      [...this.#checks].map(async ([name, { check, isNeeded }]) => {
        const reason = await check().catch(() => "the check failed");
        return { name, reason, isNeeded };
      }),
    );
    const missing = found.filter(({ reason }) => reason !== null);
    const reasons = Object.fromEntries(missing.map(({ name, reason }) => [name, reason as string]));
    if (missing.some(({ isNeeded }) => isNeeded)) return { status: "not_ready", reasons };
    return { status: missing.length > 0 ? "degraded" : "ready", reasons };
  }
}

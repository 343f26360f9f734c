/** Returns what is missing, in one sentence, or null. */
type ReadinessCheck = () => Promise<string | null>;

/** The checks that decide whether the service should receive traffic. */
export class Readiness {
  readonly #checks = new Map<string, ReadinessCheck>();

  add(name: string, check: ReadinessCheck): void {
    this.#checks.set(name, check);
  }

  /** Reasons why the service is not ready, by the name of the check; empty when it is ready. */
  async reasons(): Promise<Record<string, string>> {
    const found = await Promise.all(
      [...this.#checks].map(async ([name, check]) => {
        const reason = await check().catch(() => "the check failed");
        return [name, reason] as const;
      }),
    );
    return Object.fromEntries(
      found.filter((entry): entry is [string, string] => entry[1] !== null),
    );
  }
}

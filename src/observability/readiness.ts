/** Says what is missing in one sentence, or null when nothing is. */
export type ReadinessCheck = () => Promise<string | null>;

/** Collects the reasons for which the service should not get traffic yet. */
export class Readiness {
  readonly #checks = new Map<string, ReadinessCheck>();

  add(name: string, check: ReadinessCheck): void {
    this.#checks.set(name, check);
  }

  /** The reasons by name; empty when the service is ready. */
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

/** Open resources, which are closed in reverse order. Push each closer right after its opener. */
export class Resources {
  readonly #closers: Array<{ name: string; close: () => Promise<unknown> | unknown }> = [];

  push(name: string, close: () => Promise<unknown> | unknown): void {
    this.#closers.push({ name, close });
  }

  /** Closes everything. Reports a failing closer and continues with the others. */
  async close(onError: (name: string, error: unknown) => void): Promise<void> {
    for (;;) {
      const last = this.#closers.pop();
      if (last === undefined) return;
      try {
        await last.close();
      } catch (error) {
        onError(last.name, error);
      }
    }
  }
}

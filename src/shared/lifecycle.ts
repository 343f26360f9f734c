/** What was opened, closed again in reverse order. Each closer is pushed right beside its opener. */
export class Resources {
  readonly #closers: Array<{ name: string; close: () => Promise<unknown> | unknown }> = [];

  push(name: string, close: () => Promise<unknown> | unknown): void {
    this.#closers.push({ name, close });
  }

  /** Closes everything; a failing closer is reported and does not keep the others from closing. */
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

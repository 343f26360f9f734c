/** Lets only so many pieces of work run at once; the others wait in their order. */
export class Turns {
  readonly #waiting: Array<() => void> = [];

  constructor(private free: number) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.free++;
      else next();
    }
  }
}

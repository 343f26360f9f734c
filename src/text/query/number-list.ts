/** A list of numbers in a typed array that grows and is reused. */
export class NumberList<Numbers extends Uint32Array | Float64Array> {
  #values: Numbers;
  #length = 0;

  constructor(private readonly allocate: (length: number) => Numbers) {
    this.#values = allocate(256);
  }

  clear(): void {
    this.#length = 0;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = this.allocate(this.#length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length++] = value;
  }

  /** A view, which the next change makes invalid. */
  values(): Numbers {
    return this.#values.subarray(0, this.#length) as Numbers;
  }
}

const FIRST_CAPACITY = 8;

/** A growing list of numbers from 0 to 2^32 - 1. */
export class Numbers {
  #values: Uint32Array;
  #length: number;

  constructor(values = new Uint32Array(0)) {
    this.#values = values;
    this.#length = values.length;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#values.byteLength;
  }

  /** The values that were pushed so far, not copied. */
  get values(): Uint32Array {
    return this.#values.subarray(0, this.#length);
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = new Uint32Array(Math.max(FIRST_CAPACITY, this.#length * 2));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length++] = value;
  }

  /** Sets the value at any position. Those before it that were not set are 0. */
  set(position: number, value: number): void {
    while (this.#length <= position) this.push(0);
    this.#values[position] = value;
  }

  at(position: number): number {
    return this.#values[position] as number;
  }
}

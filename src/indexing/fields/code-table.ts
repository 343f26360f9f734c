import { isSameScalar, type Scalar } from "../../shared/filter/compile.ts";
import { Decimal } from "../../shared/json/decimal.ts";

const FIRST_SLOTS = 16;
/** Makes it impossible to choose values that collide. */
const SEED = crypto.getRandomValues(new Uint32Array(1))[0] as number;

const hashOf = (value: Scalar | undefined): number =>
  Bun.hash.xxHash32(String(value instanceof Decimal ? value.key : value), SEED);

/**
 * Finds the codes of values: a hash table of codes, with linear probing. It takes 8 bytes per value, a fifth of the
 * memory of a map.
 */
export class CodeTable {
  /** Codes; 0 is an empty slot. At most half of them are used. */
  #slots = new Uint32Array(FIRST_SLOTS);
  #used = 0;

  /** @param values the value of each code */
  constructor(private readonly values: readonly (Scalar | undefined)[]) {}

  get bytes(): number {
    return this.#slots.byteLength;
  }

  find(value: Scalar): number | undefined {
    for (let at = hashOf(value); ; at++) {
      const code = this.#slots[at & (this.#slots.length - 1)] as number;
      if (code === 0) return undefined;
      if (isSameScalar(this.values[code], value)) return code;
    }
  }

  /** Adds a code above 0 for a new value. */
  add(code: number): void {
    if ((this.#used + 1) * 2 > this.#slots.length) this.#grow();
    this.#used++;
    this.#insert(code);
  }

  #insert(code: number): void {
    const mask = this.#slots.length - 1;
    let at = hashOf(this.values[code]) & mask;
    while (this.#slots[at] !== 0) at = (at + 1) & mask;
    this.#slots[at] = code;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    for (const code of before) if (code !== 0) this.#insert(code);
  }
}

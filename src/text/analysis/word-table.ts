import { WORD_MAX_CHARS } from "../../shared/limits.ts";

/** The lowest bits of a unit, which tell letters apart. Both cases of an ASCII letter have the same. */
const BITS = 5;
const MASK = (1 << BITS) - 1;

const FIRST_CHARS = 4_096;
const FIRST_SLOTS = 1_024;
/** FNV-1a. */
const HASH_START = 0x811c9dc5 | 0;
const HASH_PRIME = 0x01000193;

/**
 * A set of numbered words, which finds those that a text holds without making strings of its words. It is
 * meant to be reused: it allocates only to grow.
 */
export class WordTable {
  /** Which first three units the words have, to tell most other words apart from them. */
  readonly #starts = new Uint8Array(1 << (3 * BITS));
  /** The units of all words. */
  #chars = new Uint16Array(FIRST_CHARS);
  /** Where each word starts in `#chars`; the next one starts where it ends. */
  readonly #ends: number[] = [0];
  readonly #numbers: number[] = [];
  /** Open addressing by the hash of a word: its position in the lists plus 1, or 0. */
  #slots = new Uint32Array(FIRST_SLOTS);
  /** The units of a string that is looked for. */
  readonly #word = new Uint16Array(WORD_MAX_CHARS);

  /** Adds a word in lower case, which is between two positions of `units`, under a positive number. */
  add(units: Uint16Array, from: number, to: number, number: number): void {
    const start = this.#ends.at(-1) as number;
    const end = start + to - from;
    if (end > this.#chars.length) this.#growChars(end * 2);
    for (let i = from; i < to; i++) this.#chars[start + i - from] = units[i] as number;
    this.#ends.push(end);
    this.#numbers.push(number);
    this.#starts[startOf(units, from, to)] = 1;
    if (this.#numbers.length * 2 > this.#slots.length) this.#growSlots();
    else this.#place(this.#numbers.length - 1);
  }

  /** The number of the word between two positions, ASCII letters in whatever case; 0 for others. */
  find(units: Uint16Array, from: number, to: number): number {
    if (this.#starts[startOf(units, from, to)] === 0) return 0;
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(units, from, to) & mask; ; slot = (slot + 1) & mask) {
      const at = this.#slots[slot] as number;
      if (at === 0) return 0;
      if (this.#equals(at - 1, units, from, to)) return this.#numbers[at - 1] as number;
    }
  }

  /** The same for a string. */
  findText(word: string): number {
    const { length } = word;
    for (let i = 0; i < length; i++) this.#word[i] = word.charCodeAt(i);
    return length > WORD_MAX_CHARS ? 0 : this.find(this.#word, 0, length);
  }

  clear(): void {
    for (let at = 0; at < this.#numbers.length; at++) {
      this.#starts[startOf(this.#chars, this.#ends[at] as number, this.#ends[at + 1] as number)] =
        0;
    }
    this.#slots.fill(0);
    this.#ends.length = 1;
    this.#numbers.length = 0;
  }

  #equals(at: number, units: Uint16Array, from: number, to: number): boolean {
    const start = this.#ends[at] as number;
    if ((this.#ends[at + 1] as number) - start !== to - from) return false;
    for (let i = from; i < to; i++) {
      if (this.#chars[start + i - from] !== lowerCase(units[i] as number)) return false;
    }
    return true;
  }

  #place(at: number): void {
    const mask = this.#slots.length - 1;
    const end = this.#ends[at + 1] as number;
    let slot = hashOf(this.#chars, this.#ends[at] as number, end) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = at + 1;
  }

  #growSlots(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let at = 0; at < this.#numbers.length; at++) this.#place(at);
  }

  #growChars(length: number): void {
    const chars = new Uint16Array(length);
    chars.set(this.#chars);
    this.#chars = chars;
  }
}

function lowerCase(unit: number): number {
  return unit >= 65 && unit <= 90 ? unit + 32 : unit;
}

function hashOf(units: Uint16Array, from: number, to: number): number {
  let hash = HASH_START;
  for (let i = from; i < to; i++) {
    hash = Math.imul(hash ^ lowerCase(units[i] as number), HASH_PRIME);
  }
  return hash ^ (hash >>> 15);
}

function startOf(units: Uint16Array, from: number, to: number): number {
  const first = (units[from] as number) & MASK;
  const second = from + 1 < to ? (units[from + 1] as number) & MASK : 0;
  const third = from + 2 < to ? (units[from + 2] as number) & MASK : 0;
  return (((first << BITS) | second) << BITS) | third;
}

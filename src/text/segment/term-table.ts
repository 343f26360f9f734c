import { textOf } from "../analysis/words.ts";
import { termStrings } from "./term-strings.ts";

const FIRST_SLOTS = 4_096;
const FIRST_UNITS = 16_384;
/** FNV-1a. */
const HASH_START = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;

function hashOf(units: Uint16Array, from: number, to: number): number {
  let hash = HASH_START;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ (units[i] as number), HASH_FACTOR);
  return hash ^ (hash >>> 15);
}

/**
 * Numbers distinct tokens in the order in which they first occur. It is a hash table over code units, so a lookup does
 * not create a string.
 */
export class TermTable {
  /** Term number plus 1 by hash; 0 for an empty slot. The number of slots is a power of two. */
  #slots = new Uint32Array(FIRST_SLOTS);
  /** The hash of each term. */
  #hashes = new Int32Array(FIRST_SLOTS / 2);
  /** The code units of all terms. The units of term t end at `#ends[t]`. */
  #units = new Uint16Array(FIRST_UNITS);
  #ends = new Uint32Array(FIRST_SLOTS / 2);
  #size = 0;

  /** All terms by number. */
  strings(): string[] {
    const starts = new Uint32Array(this.#size + 1);
    starts.set(this.#ends.subarray(0, this.#size), 1);
    return termStrings({ starts, chars: this.#units.subarray(0, starts[this.#size]) });
  }

  /** The number of a token, by its code units. */
  number(units: Uint16Array, from: number, to: number): number {
    const hash = hashOf(units, from, to);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const term = (this.#slots[slot] as number) - 1;
      if (term < 0) return this.#add(units, from, to, hash, slot);
      if (this.#hashes[term] === hash && this.#isTerm(term, units, from, to)) return term;
      slot = (slot + 1) & mask;
    }
  }

  text(term: number): string {
    return textOf(this.#units, this.#start(term), this.#ends[term] as number);
  }

  #start(term: number): number {
    return term === 0 ? 0 : (this.#ends[term - 1] as number);
  }

  #isTerm(term: number, units: Uint16Array, from: number, to: number): boolean {
    const start = this.#start(term);
    if ((this.#ends[term] as number) - start !== to - from) return false;
    for (let i = from; i < to; i++) {
      if (this.#units[start + i - from] !== units[i]) return false;
    }
    return true;
  }

  #add(units: Uint16Array, from: number, to: number, hash: number, slot: number): number {
    const term = this.#size++;
    const start = this.#start(term);
    const end = start + to - from;
    if (end > this.#units.length) this.#units = larger(this.#units, Math.max(end, start * 2));
    for (let i = from; i < to; i++) this.#units[start + i - from] = units[i] as number;
    this.#ends[term] = end;
    this.#hashes[term] = hash;
    this.#slots[slot] = term + 1;
    if (this.#size === this.#hashes.length) this.#grow();
    return term;
  }

  #grow(): void {
    this.#hashes = larger(this.#hashes, this.#size * 2);
    this.#ends = larger(this.#ends, this.#size * 2);
    this.#slots = new Uint32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let term = 0; term < this.#size; term++) {
      let slot = (this.#hashes[term] as number) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = term + 1;
    }
  }
}

/** A copy with room for more elements. */
function larger<T extends Uint16Array | Uint32Array | Int32Array>(array: T, length: number): T {
  const copy = new (array.constructor as new (length: number) => T)(length);
  copy.set(array);
  return copy;
}

/** The lowest bits of a unit, which tell letters apart. Both cases of an ASCII letter have the same. */
const BITS = 5;
const MASK = (1 << BITS) - 1;

/** The first three UTF-16 code units of words, to tell most other words apart from them. */
export class WordStarts {
  readonly #marks = new Uint8Array(1 << (3 * BITS));

  /** The word is between two positions of `units`. */
  add(units: Uint16Array, from: number, to: number): void {
    this.#marks[codeOf(units, from, to)] = 1;
  }

  /** Removes a word that was added, and all that start like it. */
  remove(units: Uint16Array, from: number, to: number): void {
    this.#marks[codeOf(units, from, to)] = 0;
  }

  /** False only if no such word was added, ASCII letters in whatever case. */
  mayHave(units: Uint16Array, from: number, to: number): boolean {
    return this.#marks[codeOf(units, from, to)] === 1;
  }
}

function codeOf(units: Uint16Array, from: number, to: number): number {
  const first = (units[from] as number) & MASK;
  const second = from + 1 < to ? (units[from + 1] as number) & MASK : 0;
  const third = from + 2 < to ? (units[from + 2] as number) & MASK : 0;
  return (((first << BITS) | second) << BITS) | third;
}

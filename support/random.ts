/** Seeded random numbers for tests and benchmarks: the same seed gives the same numbers. */

/** A generator of numbers in [0, 1): mulberry32. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A generator of numbers with the standard normal distribution. */
export function normalNumbers(seed: number): () => number {
  const uniform = randomNumbers(seed);
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** Draws whole numbers and samples. */
export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomNumbers(seed);
  }

  /** A whole number in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  /** At most `count` different elements, in random order. */
  sample<T>(items: readonly T[], count: number): T[] {
    const rest = [...items];
    const taken = Math.min(count, rest.length);
    for (let i = 0; i < taken; i++) {
      const j = i + this.below(rest.length - i);
      [rest[i], rest[j]] = [rest[j] as T, rest[i] as T];
    }
    return rest.slice(0, taken);
  }
}

import type { NumberSet } from "../versions/version-index.ts";

/** The numbers of a set, ascending. */
export function numbersIn(set: NumberSet): Uint32Array {
  let size = 0;
  for (let word = 0; word < set.length; word++) {
    for (let bits = set[word] as number; bits !== 0; bits &= bits - 1) size++;
  }
  const numbers = new Uint32Array(size);
  let at = 0;
  for (let word = 0; word < set.length; word++) {
    for (let bits = set[word] as number; bits !== 0; bits &= bits - 1) {
      numbers[at++] = word * 32 + 31 - Math.clz32(bits & -bits);
    }
  }
  return numbers;
}

/** The set of these numbers, which are below `count`. */
export function setOf(numbers: Uint32Array, count: number): NumberSet {
  const set = new Uint32Array((count + 31) >>> 5);
  for (const number of numbers) {
    set[number >>> 5] = (set[number >>> 5] as number) | (1 << (number & 31));
  }
  return set;
}

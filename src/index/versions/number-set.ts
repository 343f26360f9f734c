import { addDocument, emptyDocumentSet } from "../segments/index.ts";

/** Numbers of file versions or chunks, as a bitmap. */
export type NumberSet = Uint32Array;

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
  const set = emptyDocumentSet(count);
  for (const number of numbers) addDocument(set, number);
  return set;
}

export function removeNumber(set: NumberSet, number: number): void {
  const word = number >>> 5;
  if (word < set.length) set[word] = (set[word] as number) & ~(1 << (number & 31));
}

/** Adds a number to a set. Returns the set, which is a larger one if the number did not fit. */
export function withNumber(set: NumberSet, number: number): NumberSet {
  const words = (number >>> 5) + 1;
  let fitting = set;
  if (words > set.length) {
    fitting = new Uint32Array(Math.max(words, set.length * 2));
    fitting.set(set);
  }
  addDocument(fitting, number);
  return fitting;
}

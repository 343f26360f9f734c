import { FUZZY_MAX_TERMS } from "../../shared/limits.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { findTerm, prefixRange, suffixRange, termLength } from "../segment/term-dictionary.ts";

/**
 * Terms at one typo's distance from the word: a letter inserted, deleted or replaced, or two
 * neighbours swapped (Damerau-Levenshtein distance 1). The most frequent come first.
 *
 * One typo leaves at least one half of the word intact, so the candidates are the terms with the
 * same first or second half, which are ranges of the sorted dictionaries. Only the swap across the
 * middle changes both halves.
 */
export function fuzzyTerms(segment: SegmentReader, word: string): number[] {
  const middle = word.length >>> 1;
  const found = new Set<number>();
  const consider = (term: number) => {
    if (isOneTypo(segment, term, word)) found.add(term);
  };
  const forward = prefixRange(segment, word.slice(0, middle));
  for (let term = forward.from; term < forward.to; term++) consider(term);
  const backward = suffixRange(segment, word.slice(middle));
  for (let at = backward.from; at < backward.to; at++) consider(segment.reversed[at] as number);
  const swapped = findTerm(segment, swap(word, middle - 1));
  if (swapped >= 0) consider(swapped);
  return mostFrequent(segment, [...found]);
}

/** Frequent terms are more likely to be meant; ties are broken by term number. */
function mostFrequent(segment: SegmentReader, terms: number[]): number[] {
  const frequency = (term: number) =>
    (segment.postingStart[term + 1] as number) - (segment.postingStart[term] as number);
  return terms.sort((a, b) => frequency(b) - frequency(a) || a - b).slice(0, FUZZY_MAX_TERMS);
}

function swap(word: string, at: number): string {
  return word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2);
}

/** True when the term differs from the word by exactly one typo. */
function isOneTypo(segment: SegmentReader, term: number, word: string): boolean {
  const length = termLength(segment, term);
  const longer = length - word.length;
  if (longer < -1 || longer > 1) return false;
  const from = segment.termStart[term] as number;
  const shorter = Math.min(length, word.length);
  const letter = (i: number) => segment.termChars[from + i] as number;

  let head = 0;
  while (head < shorter && letter(head) === word.charCodeAt(head)) head++;
  let tail = 0;
  while (
    tail < shorter - head &&
    letter(length - 1 - tail) === word.charCodeAt(word.length - 1 - tail)
  ) {
    tail++;
  }
  const differing = shorter - head - tail;
  if (longer !== 0) return differing === 0;
  if (differing === 1) return true;
  return (
    differing === 2 &&
    letter(head) === word.charCodeAt(head + 1) &&
    letter(head + 1) === word.charCodeAt(head)
  );
}

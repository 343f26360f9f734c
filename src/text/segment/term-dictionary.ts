import { bisect } from "./bisect.ts";
import type { SegmentReader } from "./reader.ts";

/** Half-open range of positions. */
interface Range {
  from: number;
  to: number;
}

/** The number of a term, or -1. */
export function findTerm(segment: SegmentReader, word: string): number {
  const at = firstTerm(segment, word, false);
  if (at >= segment.termCount || comparePrefix(segment, at, word) !== 0) return -1;
  return termLength(segment, at) === word.length ? at : -1;
}

/** Terms that start with the prefix, as a range of term numbers. */
export function prefixRange(segment: SegmentReader, prefix: string): Range {
  return { from: firstTerm(segment, prefix, false), to: firstTerm(segment, prefix, true) };
}

/** Terms that end with the suffix, as a range of positions in `segment.reversed`. */
export function suffixRange(segment: SegmentReader, suffix: string): Range {
  return {
    from: firstReversed(segment, suffix, false),
    to: firstReversed(segment, suffix, true),
  };
}

export function termLength(segment: SegmentReader, term: number): number {
  return (segment.termStart[term + 1] as number) - (segment.termStart[term] as number);
}

/** The first term not below the word, or, with `beyond`, the first one above all its extensions. */
function firstTerm(segment: SegmentReader, word: string, beyond: boolean): number {
  const limit = beyond ? 0 : -1;
  return bisect(segment.termCount, (term) => comparePrefix(segment, term, word) > limit);
}

function firstReversed(segment: SegmentReader, suffix: string, beyond: boolean): number {
  const limit = beyond ? 0 : -1;
  return bisect(
    segment.termCount,
    (at) => compareSuffix(segment, segment.reversed[at] as number, suffix) > limit,
  );
}

/** Negative: the term sorts before the word; 0: it starts with it; positive: it sorts after it. */
function comparePrefix(segment: SegmentReader, term: number, word: string): number {
  const from = segment.termStart[term] as number;
  const length = termLength(segment, term);
  for (let i = 0; i < word.length; i++) {
    if (i >= length) return -1;
    const difference = (segment.termChars[from + i] as number) - word.charCodeAt(i);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Like `comparePrefix`, from the end. */
function compareSuffix(segment: SegmentReader, term: number, suffix: string): number {
  const last = (segment.termStart[term + 1] as number) - 1;
  const length = termLength(segment, term);
  for (let i = 0; i < suffix.length; i++) {
    if (i >= length) return -1;
    const wanted = suffix.charCodeAt(suffix.length - 1 - i);
    const difference = (segment.termChars[last - i] as number) - wanted;
    if (difference !== 0) return difference;
  }
  return 0;
}

import type { SegmentReader } from "./reader.ts";

/** Half-open range of positions. */
export interface Range {
  from: number;
  to: number;
}

/** The number of a term, or -1. */
export function findTerm(segment: SegmentReader, word: string): number {
  const at = firstTerm(segment, word, false);
  if (at >= segment.termCount || comparePrefix(segment, at, word) !== 0) return -1;
  return termLength(segment, at) === word.length ? at : -1;
}

/** Terms that start with the prefix: a range of term numbers, since terms are sorted. */
export function prefixRange(segment: SegmentReader, prefix: string): Range {
  return { from: firstTerm(segment, prefix, false), to: firstTerm(segment, prefix, true) };
}

/** Terms that end with the suffix: a range of positions in `segment.backwards`. */
export function suffixRange(segment: SegmentReader, suffix: string): Range {
  return {
    from: firstBackwards(segment, suffix, false),
    to: firstBackwards(segment, suffix, true),
  };
}

export function termLength(segment: SegmentReader, term: number): number {
  return (segment.termStart[term + 1] as number) - (segment.termStart[term] as number);
}

/** The first term that is not below the word, or, `beyond`, that is above all that start with it. */
function firstTerm(segment: SegmentReader, word: string, beyond: boolean): number {
  const limit = beyond ? 0 : -1;
  return bisect(segment.termCount, (term) => comparePrefix(segment, term, word) > limit);
}

function firstBackwards(segment: SegmentReader, suffix: string, beyond: boolean): number {
  const limit = beyond ? 0 : -1;
  return bisect(
    segment.termCount,
    (at) => compareSuffix(segment, segment.backwards[at] as number, suffix) > limit,
  );
}

/** The first number below `count` for which the condition holds, which then holds for all above. */
function bisect(count: number, holds: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Below 0, 0, above 0: the term is before, starts with, is behind the word. */
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

/** The same, read from the end. */
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

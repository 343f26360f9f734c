import { PREFIX_MAX_TERMS } from "../../shared/limits.ts";
import { stem } from "../analysis/stem.ts";
import { findTerm, prefixRange, termLength } from "../segment/dictionary.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { termsOneTypoAway } from "./fuzzy.ts";
import type { View } from "./types.ts";
import {
  PREFIX_COVER,
  PREFIX_MATCH_BASE,
  PREFIX_MATCH_GAIN,
  STEM_COVER,
  STEM_MATCH,
  TYPO_COVER,
  TYPO_FIRST_LETTER_MATCH,
  TYPO_MATCH,
} from "./weights.ts";

/** A term with its share of what the word itself would count. */
export interface Likeness {
  segment: number;
  term: number;
  share: number;
  /** Share of the word that is met where the term stands. */
  cover: number;
}

/** The word itself and the other forms of it. */
export function exactAndStem(view: View, word: string): Likeness[] {
  const root = stem(word);
  return view.segments.flatMap((segment, s) => {
    const exact = findTerm(segment, word);
    const start = exact >= 0 ? exact : anyTermWithStem(segment, word, root);
    if (start < 0) return [];
    return stemCircle(segment, start).map((term) =>
      term === exact
        ? { segment: s, term, share: 1, cover: 1 }
        : { segment: s, term, share: STEM_MATCH, cover: STEM_COVER },
    );
  });
}

/** Words with one stem start alike, up to the last letters of the stem. */
function anyTermWithStem(segment: SegmentReader, word: string, root: string): number {
  const { from, to } = prefixRange(segment, word.slice(0, Math.max(3, root.length - 2)));
  const limit = Math.min(to, from + PREFIX_MAX_TERMS);
  for (let term = from; term < limit; term++) {
    if (
      termLength(segment, term) <= root.length + STEM_MAX_ENDING &&
      stem(segment.term(term)) === root
    ) {
      return term;
    }
  }
  return -1;
}

/** No suffix that the stemmer takes off is longer. */
const STEM_MAX_ENDING = 8;

/** Longer words that start with an unfinished one. */
export function prefixes(view: View, word: string): Likeness[] {
  return view.segments.flatMap((segment, s) => {
    const { from, to } = prefixRange(segment, word);
    const terms: Likeness[] = [];
    for (let term = from; term < Math.min(to, from + PREFIX_MAX_TERMS); term++) {
      const length = termLength(segment, term);
      if (length === word.length) continue;
      const share = PREFIX_MATCH_BASE + PREFIX_MATCH_GAIN * (word.length / length);
      terms.push({ segment: s, term, share, cover: PREFIX_COVER });
    }
    return terms;
  });
}

/** Words that may have been meant, and behind them their other forms. */
export function typos(view: View, word: string): Likeness[] {
  return view.segments.flatMap((segment, s) =>
    termsOneTypoAway(segment, word).flatMap((meant) => {
      const sameFirst =
        segment.termChars[segment.termStart[meant] as number] === word.charCodeAt(0);
      const share = sameFirst ? TYPO_MATCH : TYPO_FIRST_LETTER_MATCH;
      return stemCircle(segment, meant).map((term) =>
        term === meant
          ? { segment: s, term, share, cover: TYPO_COVER }
          : { segment: s, term, share: share * STEM_MATCH, cover: TYPO_COVER * STEM_COVER },
      );
    }),
  );
}

/** The term and all others with its stem. */
function stemCircle(segment: SegmentReader, start: number): number[] {
  const circle: number[] = [];
  let term = start;
  do {
    circle.push(term);
    term = segment.sameStem[term] as number;
  } while (term !== start);
  return circle;
}

import { PREFIX_MAX_TERMS } from "../../shared/limits.ts";
import { stem } from "../analysis/stem.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { findTerm, prefixRange, termLength } from "../segment/term-dictionary.ts";
import { fuzzyTerms } from "./fuzzy.ts";
import type { View } from "./types.ts";
import {
  FUZZY_COVERAGE,
  FUZZY_FIRST_LETTER_SIMILARITY,
  FUZZY_SIMILARITY,
  FUZZY_STEM_SIMILARITY,
  PREFIX_COVERAGE,
  PREFIX_SIMILARITY_BASE,
  PREFIX_SIMILARITY_GAIN,
  STEM_COVERAGE,
  STEM_SIMILARITY,
} from "./weights.ts";

/** A term that a query word expands to. */
export interface Expansion {
  segment: number;
  term: number;
  /** What the term counts, as a share of the word itself. */
  similarity: number;
  /** How much of the word an occurrence of the term covers, 0 to 1. */
  coverage: number;
}

/** The word itself and all terms of its stem group. */
export function expandStem(view: View, word: string): Expansion[] {
  const root = stem(word);
  return view.segments.flatMap((segment, s) => {
    const exact = findTerm(segment, word);
    const start = exact >= 0 ? exact : anyTermWithStem(segment, word, root);
    if (start < 0) return [];
    return stemGroup(segment, start).map((term) =>
      term === exact
        ? { segment: s, term, similarity: 1, coverage: 1 }
        : { segment: s, term, similarity: STEM_SIMILARITY, coverage: STEM_COVERAGE },
    );
  });
}

/** Terms of one stem have the same beginning, except for the last letters of the stem. */
function anyTermWithStem(segment: SegmentReader, word: string, root: string): number {
  const { from, to } = prefixRange(segment, word.slice(0, Math.max(3, root.length - 2)));
  const limit = Math.min(to, from + PREFIX_MAX_TERMS);
  for (let term = from; term < limit; term++) {
    if (
      termLength(segment, term) <= root.length + STEM_SUFFIX_MAX_CHARS &&
      stem(segment.term(term)) === root
    ) {
      return term;
    }
  }
  return -1;
}

/** The stemmer removes no longer suffix. */
const STEM_SUFFIX_MAX_CHARS = 8;

/** Longer terms that start with an unfinished word. */
export function expandPrefix(view: View, word: string): Expansion[] {
  return view.segments.flatMap((segment, s) => {
    const { from, to } = prefixRange(segment, word);
    const terms: Expansion[] = [];
    for (let term = from; term < Math.min(to, from + PREFIX_MAX_TERMS); term++) {
      const length = termLength(segment, term);
      if (length === word.length) continue;
      const similarity = PREFIX_SIMILARITY_BASE + PREFIX_SIMILARITY_GAIN * (word.length / length);
      terms.push({ segment: s, term, similarity, coverage: PREFIX_COVERAGE });
    }
    return terms;
  });
}

/** Terms that a misspelt word may mean, each followed by the rest of its stem group. */
export function expandFuzzy(view: View, word: string): Expansion[] {
  return view.segments.flatMap((segment, s) =>
    fuzzyTerms(segment, word).flatMap((meant) => {
      const sameFirst =
        segment.termChars[segment.termStart[meant] as number] === word.charCodeAt(0);
      const similarity = sameFirst ? FUZZY_SIMILARITY : FUZZY_FIRST_LETTER_SIMILARITY;
      return stemGroup(segment, meant).map((term) =>
        term === meant
          ? { segment: s, term, similarity, coverage: FUZZY_COVERAGE }
          : {
              segment: s,
              term,
              similarity: similarity * FUZZY_STEM_SIMILARITY,
              coverage: FUZZY_COVERAGE * STEM_COVERAGE,
            },
      );
    }),
  );
}

/** The term and all others with its stem. */
function stemGroup(segment: SegmentReader, start: number): number[] {
  const group: number[] = [];
  let term = start;
  do {
    group.push(term);
    term = segment.nextSameStem[term] as number;
  } while (term !== start);
  return group;
}

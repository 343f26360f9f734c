/**
 * Weights that are applied when a query runs; `segment/field-weights.ts` has those of the fields.
 * None of them is specific to a collection; `bench/knowledge` checks them against several at once.
 */

/** What a term counts, as a share of the query word itself, when it is another form of the word. */
export const STEM_SIMILARITY = 0.6;
/** For a term that starts with the word: from BASE (one letter of many) to BASE + GAIN (nearly all). */
export const PREFIX_SIMILARITY_BASE = 0.25;
export const PREFIX_SIMILARITY_GAIN = 0.4;
export const FUZZY_SIMILARITY = 0.7;
/** Lower, because people rarely mistype the first letter. */
export const FUZZY_FIRST_LETTER_SIMILARITY = 0.5;

/** How much of the query word a matching term covers; the word itself covers 1. */
export const STEM_COVERAGE = 0.6;
export const PREFIX_COVERAGE = 0.9;
export const FUZZY_COVERAGE = 0.9;

/** In queries of more words than this, common words do not make a document a match. */
export const LONG_QUERY_WORDS = 4;
/** A word is common when more than this share of the documents holds it. */
export const COMMON_WORD_SHARE = 0.25;

/** Second pass: bonuses for proximity, phrases and matching fields, as shares of the maximum score. */
export const PROXIMITY_BONUS = 0.8;
export const PHRASE_BONUS = 2;
export const TITLE_BONUS = 0.9;
export const HEADING_BONUS = 0.6;
export const FRONTMATTER_BONUS = 0.5;
/** Words that are further apart have no proximity. */
export const PROXIMITY_MAX_DISTANCE = 8;
/** What the proximity of two words in the wrong order counts. */
export const REVERSED_ORDER_SHARE = 0.5;

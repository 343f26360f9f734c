/**
 * The one setting of relevance. Every number here is a statement about documents in general; they
 * are checked against several collections at once by `bench/knowledge`.
 */

/** What a term counts that is not the very word of the query. */
export const STEM_MATCH = 0.6;
/** An unfinished word: from the first number (one letter of many) to their sum (all but complete). */
export const PREFIX_MATCH_BASE = 0.25;
export const PREFIX_MATCH_GAIN = 0.4;
export const TYPO_MATCH = 0.7;
/** People rarely mistype the first letter. */
export const TYPO_FIRST_LETTER_MATCH = 0.5;

/** How fully a form of a word, a word's beginning or a misspelling covers the word. */
export const STEM_COVER = 0.6;
export const PREFIX_COVER = 0.9;
export const TYPO_COVER = 0.9;

/** In queries of more words than this, only the rarer words make a document a match. */
export const LONG_QUERY_WORDS = 4;
/** Words in more than this share of the documents only add to scores in such queries. */
export const COMMON_WORD_SHARE = 0.25;

/** Second pass: what closeness and fit add, as shares of the most that the words could earn. */
export const NEARNESS_BONUS = 0.8;
export const TITLE_FIT_BONUS = 0.9;
export const HEADING_FIT_BONUS = 0.6;
export const ENTRY_FIT_BONUS = 0.5;
/** What an unbroken run of near words adds on top of what its pairs do. */
export const RUN_BONUS = 2;
/** Words further apart than this are not near. */
export const NEAR_WORDS = 8;
/** Neighbours in the wrong order count this much. */
export const REVERSED_SHARE = 0.5;

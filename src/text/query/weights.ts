/**
 * Weights that are applied when a query runs; `segment/field-weights.ts` has those of the fields.
 * None of them is specific to a collection; `bench/knowledge` checks them against several at once.
 */

/** BM25's k1: the weighted term frequency that earns half of what a word can add. */
export const K1 = 1.5;
/** BM25's b for the content: how much its length matters, compared with the average of the scope. */
export const CONTENT_B = 0.75;

/** What an occurrence of another form of the query word counts, as a share of the word itself. */
export const STEM_SIMILARITY = 0.85;
/**
 * A form is often much rarer than its stem. How much of that difference, in inverse document
 * frequency, only the exact form earns.
 */
export const EXACT_FORM_SHARE = 0.7;
/** For a term that starts with the word: from BASE (one letter of many) to BASE + GAIN (nearly all). */
export const PREFIX_SIMILARITY_BASE = 0.4;
export const PREFIX_SIMILARITY_GAIN = 0.6;
export const FUZZY_SIMILARITY = 0.7;
/** Lower, because people rarely mistype the first letter. */
export const FUZZY_FIRST_LETTER_SIMILARITY = 0.5;
/** What another form of a term counts that a misspelt word may mean. */
export const FUZZY_STEM_SIMILARITY = 0.6;

/** How much of the query word a matching term covers; the word itself covers 1. */
export const STEM_COVERAGE = 0.75;
export const PREFIX_COVERAGE = 0.9;
export const FUZZY_COVERAGE = 0.9;

/**
 * Queries of more words than this are questions or sentences. Their function words hardly count, and
 * their common words do not make a document a match.
 */
export const LONG_QUERY_WORDS = 4;
/** What a function word counts in a long query, as a share of its inverse document frequency. */
export const FUNCTION_WORD_SHARE = 0.05;
/**
 * What an identifier in mixed case counts in a long query, if at most this share of the documents holds
 * it. Names that many hold, such as GitHub, are words like others.
 */
export const IDENTIFIER_SHARE = 5;
export const IDENTIFIER_MAX_SHARE = 0.01;
/** A word is common when more than this share of the documents holds it. */
export const COMMON_WORD_SHARE = 0.25;

/** Second pass: bonuses for proximity, phrases and matching fields, as shares of the maximum score. */
export const PROXIMITY_BONUS = 1.5;
export const PHRASE_BONUS = 2;
/**
 * Proximity and phrases are shares of the query, taken to this power: a passage that repeats the
 * query is a find, a few words of it side by side are chance. The chance grows with the query.
 */
export const RUN_POWER = 3;
export const RUN_POWER_PER_WORD = 0.65;
/** For a title that starts with the query. */
export const TITLE_START_BONUS = 0.5;
export const TITLE_BONUS = 0.9;
export const HEADING_BONUS = 0.7;
export const FRONTMATTER_BONUS = 0.7;
/** How well a field fits is a share too, taken to this power. */
export const FIT_POWER = 1.5;
/** Words that are further apart have no proximity. */
export const PROXIMITY_MAX_DISTANCE = 8;
/** What the proximity of two words in the wrong order counts. */
export const REVERSED_ORDER_SHARE = 0.5;

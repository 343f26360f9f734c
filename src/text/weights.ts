/**
 * The one setting of relevance. Every number here is a statement about documents in general; they
 * are checked against several collections at once by `bench/knowledge`.
 */

/** How much a word in a field counts, and how the field's length tempers it (BM25F). */
export interface FieldWeight {
  boost: number;
  /** 0: length does not matter, 1: twice the pivot's length counts half. */
  lengthEffect: number;
  /**
   * Length in words at which a word counts its boost. It is fixed and not the average of the
   * collection, so that a score depends on the document alone and not on how documents are spread
   * over segments.
   */
  pivot: number;
}

export const PATH: FieldWeight = { boost: 1.5, lengthEffect: 0.3, pivot: 5 };
export const TITLE: FieldWeight = { boost: 4, lengthEffect: 0.4, pivot: 4 };
export const HEADINGS: FieldWeight = { boost: 3, lengthEffect: 0.5, pivot: 12 };
export const CONTENT: FieldWeight = { boost: 1, lengthEffect: 0.4, pivot: 300 };

const SUMMARY: FieldWeight = { boost: 2.5, lengthEffect: 0.4, pivot: 15 };
const LABELS: FieldWeight = { boost: 1.5, lengthEffect: 0.4, pivot: 5 };
const OTHER_KEY: FieldWeight = { boost: 0.7, lengthEffect: 0.5, pivot: 8 };
/** The title is a field by itself already. */
const TITLE_KEY: FieldWeight = { boost: 0, lengthEffect: 0, pivot: 1 };

const KEY_WEIGHTS = new Map<string, FieldWeight>([
  ["title", TITLE_KEY],
  ...["description", "summary", "abstract", "excerpt", "subtitle", "lead"].map(
    (key) => [key, SUMMARY] as const,
  ),
  ...["keywords", "tags", "categories", "topics", "aliases", "linktitle", "slug"].map(
    (key) => [key, LABELS] as const,
  ),
]);

export function keyWeight(key: string): FieldWeight {
  return KEY_WEIGHTS.get(key.toLowerCase()) ?? OTHER_KEY;
}

/** What a part of a name such as `getStaticProps` counts of a word that stands by itself. */
export const PART_SHARE = 0.15;

/** The weighted count of a word at which it earns half of what it can earn at most. */
export const SATURATION = 1.6;

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

/**
 * Weights that are applied when a segment is written and are part of its postings: raise
 * `textSegment` in `shared/disk-formats.ts` when one of them changes. `native/src/text/segment/weights.hpp` has
 * the weights of queries.
 */

/**
 * The weight of a token in a field, relative to the content, and the influence of the field's length (BM25F).
 */
export interface FieldWeight {
  boost: number;
  /** Length normalisation, BM25's b. 0: length does not matter; 1: twice the length counts half. */
  b: number;
  /** Length in tokens at which a token counts exactly `boost`. */
  pivotLength: number;
}

export const PATH: FieldWeight = { boost: 1.5, b: 0.3, pivotLength: 5 };
export const TITLE: FieldWeight = { boost: 3, b: 0.3, pivotLength: 4 };
export const HEADINGS: FieldWeight = { boost: 3, b: 0.5, pivotLength: 12 };
/** A search normalises the length of the content by the average of its scope. */
export const CONTENT: FieldWeight = { boost: 1, b: 0, pivotLength: 1 };

const SUMMARY: FieldWeight = { boost: 2.5, b: 0.4, pivotLength: 15 };
const LABELS: FieldWeight = { boost: 1.5, b: 0.4, pivotLength: 5 };
const OTHER_KEY: FieldWeight = { boost: 0.7, b: 0.5, pivotLength: 8 };
/** The title has a field of its own. */
const TITLE_KEY: FieldWeight = { boost: 0, b: 0, pivotLength: 1 };

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

/** The weight of a subword of an identifier, as a share of a token of its own. */
export const SUBWORD_SHARE = 0.15;

/** The weight of a joined spelling of words that the text writes apart, as a share of a token of its own. */
export const JOINED_SHARE = 0.85;

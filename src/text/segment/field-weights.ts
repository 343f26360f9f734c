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

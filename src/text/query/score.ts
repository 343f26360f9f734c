import type { DocumentSet } from "../segment/document-set.ts";
import { POSTING_CODE_MASK, POSTING_DOCUMENT_SHIFT } from "../segment/format.ts";
import { CONTENT_FREQUENCIES, FIELD_FREQUENCIES } from "../segment/frequency-code.ts";
import type { SegmentReader } from "../segment/reader.ts";
import type { Shard } from "../segment/shard.ts";
import { Matches, type SegmentMatches, type Wanted } from "./matches.ts";
import type { QueryPlan, QueryWord, TermMatch } from "./plan.ts";
import { CONTENT_B, K1 } from "./weights.ts";

/**
 * Scratch space of this thread, all zero between calls unless stated otherwise. It is as long as the
 * largest segment has documents.
 */
let scratch = allocate(0);

function allocate(documents: number) {
  return {
    /** Weighted frequency of all forms of the current word in each document. */
    frequencies: new Float32Array(documents),
    /** What the current word has added to each document's score. */
    wordScores: new Float32Array(documents),
    /** The documents that hold the current word. Not cleared. */
    touched: new Uint32Array(documents),
  };
}

/** Common words that weigh less than this share of the query are not worth reading their postings. */
const NEGLIGIBLE_SHARE = 0.001;

/**
 * First pass over one segment: adds up the scores of its documents, word by word, the weightiest word
 * first.
 */
export function scoreSegment(
  segment: SegmentReader,
  index: number,
  set: DocumentSet,
  shard: Shard,
  plan: QueryPlan,
  wanted: Wanted,
): SegmentMatches {
  if (scratch.touched.length < segment.documentCount) scratch = allocate(segment.documentCount);
  const matches = new Matches(segment, set, shard);
  const scorer = new SegmentScorer(segment, matches, plan.averageLength);
  const words = inOrder(plan);
  let left = words.reduce((sum, word) => sum + word.weight, 0);
  let done = 0;
  for (const word of words) {
    // The best score so far is at most `done`: until that exceeds `left`, nothing can be ruled out.
    if (left < Math.max(done, wanted.least)) matches.narrow(left, wanted);
    scorer.add(word, index);
    done += word.weight;
    left -= word.weight;
  }
  return matches.finish();
}

/** Selective words first, because they determine the matches that the others add to. */
function inOrder({ words, maxScore }: QueryPlan): QueryWord[] {
  const negligible = NEGLIGIBLE_SHARE * maxScore;
  return words
    .filter((word) => word.selective || word.weight > negligible)
    .sort((a, b) => Number(b.selective) - Number(a.selective) || b.weight - a.weight);
}

/** BM25 over weighted frequencies: `weight * frequency / (frequency + K1)`. */
class SegmentScorer {
  /** The content's length normalisation of a document is `1 - CONTENT_B + #slope * length`. */
  readonly #slope: number;
  readonly #matches: Matches;

  constructor(
    private readonly segment: SegmentReader,
    matches: Matches,
    averageLength: number,
  ) {
    this.#matches = matches;
    this.#slope = CONTENT_B / averageLength;
  }

  add(word: QueryWord, index: number): void {
    const forms = word.forms[index] ?? [];
    const others = word.others[index] ?? [];
    const [only] = forms;
    if (only !== undefined && forms.length === 1 && others.length === 0) {
      this.#scoreOnly(word, only);
      return;
    }
    let count = 0;
    for (const form of forms) count = this.#addFrequencies(word, form, count);
    this.#scoreForms(word, count, others.length > 0);
    if (others.length === 0) return;
    for (const other of others) count = this.#scoreOther(word, other, count);
    const { touched, wordScores } = scratch;
    for (let i = 0; i < count; i++) wordScores[touched[i] as number] = 0;
  }

  #frequency(posting: number, document: number): number {
    const code = posting & POSTING_CODE_MASK;
    const norm = 1 - CONTENT_B + this.#slope * (this.segment.lengths[document] as number);
    return (FIELD_FREQUENCIES[code] as number) + (CONTENT_FREQUENCIES[code] as number) / norm;
  }

  /** Scores a word of a single form at once. */
  #scoreOnly(word: QueryWord, { term, similarity }: TermMatch): void {
    const { selective, formWeight } = word;
    const exactWeight = similarity === 1 ? word.exactWeight : 0;
    const postings = this.#matches.pick(term, selective);
    for (let i = 0; i < postings.length; i++) {
      const posting = postings[i] as number;
      const document = posting >>> POSTING_DOCUMENT_SHIFT;
      const own = this.#frequency(posting, document);
      const frequency = similarity * own;
      const score = (formWeight * frequency) / (frequency + K1) + (exactWeight * own) / (own + K1);
      this.#matches.add(document, score);
    }
  }

  /** Adds what one form counts. Returns how many documents hold a form so far. */
  #addFrequencies(word: QueryWord, { term, similarity }: TermMatch, holders: number): number {
    const { frequencies, wordScores, touched } = scratch;
    const { selective, exactWeight } = word;
    const isExact = similarity === 1 && exactWeight > 0;
    const postings = this.#matches.pick(term, selective);
    let count = holders;
    for (let i = 0; i < postings.length; i++) {
      const posting = postings[i] as number;
      const document = posting >>> POSTING_DOCUMENT_SHIFT;
      const before = frequencies[document] as number;
      if (before === 0) touched[count++] = document;
      const own = this.#frequency(posting, document);
      frequencies[document] = before + similarity * own;
      if (isExact) wordScores[document] = (exactWeight * own) / (own + K1);
    }
    return count;
  }

  /** Turns the frequencies of all forms into scores, and clears them. */
  #scoreForms({ formWeight }: QueryWord, count: number, keepsWordScores: boolean): void {
    const { frequencies, wordScores, touched } = scratch;
    for (let i = 0; i < count; i++) {
      const document = touched[i] as number;
      const frequency = frequencies[document] as number;
      const score = (wordScores[document] as number) + (formWeight * frequency) / (frequency + K1);
      this.#matches.add(document, score);
      frequencies[document] = 0;
      wordScores[document] = keepsWordScores ? score : 0;
    }
  }

  /**
   * Only the best counts: the word's own forms, or one longer or misspelt word. Returns how many
   * documents hold one of them so far.
   */
  #scoreOther(word: QueryWord, { term, similarity }: TermMatch, holders: number): number {
    const { wordScores, touched } = scratch;
    const { selective } = word;
    const weight = similarity * word.otherWeight;
    let count = holders;
    const postings = this.#matches.pick(term, selective);
    for (let i = 0; i < postings.length; i++) {
      const posting = postings[i] as number;
      const document = posting >>> POSTING_DOCUMENT_SHIFT;
      const frequency = this.#frequency(posting, document);
      const score = (weight * frequency) / (frequency + K1);
      const before = wordScores[document] as number;
      if (score <= before) continue;
      if (before === 0) touched[count++] = document;
      this.#matches.add(document, score - before);
      wordScores[document] = score;
    }
    return count;
  }
}

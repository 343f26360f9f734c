import { type DocumentSet, hasDocument } from "../segment/document-set.ts";
import { POSTING_CODE_MASK, POSTING_DOCUMENT_SHIFT } from "../segment/format.ts";
import { CONTENT_FREQUENCIES, FIELD_FREQUENCIES } from "../segment/frequency-code.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { inShard, type Shard } from "../segment/shard.ts";
import type { QueryPlan, QueryWord, TermMatch } from "./plan.ts";
import { CONTENT_B, K1 } from "./weights.ts";

/** The matches in one segment that are in scope and shard, in no particular order. */
interface SegmentScores {
  documents: Uint32Array;
  /** Same length and order as `documents`; all positive. */
  scores: Float32Array;
}

/**
 * Scratch space of this thread, all zero between calls. Each call clears only what it wrote, which
 * is far cheaper than clearing or allocating the whole array.
 */
let scores = new Float32Array(0);
/** Weighted frequency of all forms of the current word in each document. */
let frequencies = new Float32Array(0);
/** What the current word has added to each document's score. */
let wordScores = new Float32Array(0);
/** The documents that hold a form of the current word. Not cleared. */
let touched = new Uint32Array(0);

/** First pass over one segment: adds up the scores of its documents, word by word. */
export function scoreSegment(
  segment: SegmentReader,
  index: number,
  set: DocumentSet,
  shard: Shard,
  plan: QueryPlan,
): SegmentScores {
  if (scores.length < segment.documentCount) {
    scores = new Float32Array(segment.documentCount);
    frequencies = new Float32Array(segment.documentCount);
    wordScores = new Float32Array(segment.documentCount);
    touched = new Uint32Array(segment.documentCount);
  }
  const scorer = new SegmentScorer(segment, set, shard, plan.averageLength);
  // Selective words go first: they determine the matches that the others add to.
  for (const word of plan.words) if (word.selective) scorer.add(word, index);
  const negligible = NEGLIGIBLE_SHARE * plan.maxScore;
  for (const word of plan.words) {
    if (!word.selective && word.weight > negligible) scorer.add(word, index);
  }
  return scorer.finish();
}

/** Common words that weigh less than this share of the query are not worth reading their postings. */
const NEGLIGIBLE_SHARE = 0.001;

/** BM25 over weighted frequencies: `weight * frequency / (frequency + K1)`. */
class SegmentScorer {
  readonly #matches: number[] = [];
  /** The content's length normalisation of a document is `1 - CONTENT_B + #slope * length`. */
  readonly #slope: number;
  readonly #acceptsAll: boolean;

  constructor(
    private readonly segment: SegmentReader,
    private readonly set: DocumentSet,
    private readonly shard: Shard,
    averageLength: number,
  ) {
    this.#slope = CONTENT_B / averageLength;
    this.#acceptsAll = set === null && shard.shardCount <= 1;
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
    for (const other of others) this.#scoreOther(word, other);
    for (let i = 0; i < count; i++) wordScores[touched[i] as number] = 0;
    for (const other of others) this.#clearWordScores(other);
  }

  /** The scores of all matches; the scratch space is zero again. */
  finish(): SegmentScores {
    const documents = Uint32Array.from(this.#matches);
    const result = new Float32Array(documents.length);
    for (let i = 0; i < documents.length; i++) {
      const document = documents[i] as number;
      result[i] = scores[document] as number;
      scores[document] = 0;
    }
    return { documents, scores: result };
  }

  #accepts(document: number, selective: boolean): boolean {
    if (scores[document] !== 0) return true;
    if (!selective) return false;
    if (this.#acceptsAll) return true;
    return (
      hasDocument(this.set, document) &&
      inShard(this.segment.pathHashes[document] as number, this.shard)
    );
  }

  #frequency(posting: number, document: number): number {
    const code = posting & POSTING_CODE_MASK;
    const norm = 1 - CONTENT_B + this.#slope * (this.segment.lengths[document] as number);
    return (FIELD_FREQUENCIES[code] as number) + (CONTENT_FREQUENCIES[code] as number) / norm;
  }

  /** Scores a word of a single form at once. */
  #scoreOnly(word: QueryWord, { term, similarity }: TermMatch): void {
    const { postings, postingStart } = this.segment;
    const { selective, formWeight } = word;
    const exactWeight = similarity === 1 ? word.exactWeight : 0;
    const to = postingStart[term + 1] as number;
    for (let i = postingStart[term] as number; i < to; i++) {
      const posting = postings[i] as number;
      const document = posting >>> POSTING_DOCUMENT_SHIFT;
      if (!this.#accepts(document, selective)) continue;
      const own = this.#frequency(posting, document);
      const frequency = similarity * own;
      const score = (formWeight * frequency) / (frequency + K1) + (exactWeight * own) / (own + K1);
      if (scores[document] === 0) this.#matches.push(document);
      scores[document] = (scores[document] as number) + score;
    }
  }

  /** Adds what one form counts. Returns how many documents hold a form so far. */
  #addFrequencies(word: QueryWord, { term, similarity }: TermMatch, holders: number): number {
    const { postings, postingStart } = this.segment;
    const { selective, exactWeight } = word;
    const isExact = similarity === 1 && exactWeight > 0;
    const to = postingStart[term + 1] as number;
    let count = holders;
    for (let i = postingStart[term] as number; i < to; i++) {
      const posting = postings[i] as number;
      const document = posting >>> POSTING_DOCUMENT_SHIFT;
      const before = frequencies[document] as number;
      if (before === 0) {
        if (!this.#accepts(document, selective)) continue;
        touched[count++] = document;
      }
      const own = this.#frequency(posting, document);
      frequencies[document] = before + similarity * own;
      if (isExact) wordScores[document] = (exactWeight * own) / (own + K1);
    }
    return count;
  }

  /** Turns the frequencies of all forms into scores, and clears them. */
  #scoreForms({ formWeight }: QueryWord, count: number, keepsWordScores: boolean): void {
    for (let i = 0; i < count; i++) {
      const document = touched[i] as number;
      const frequency = frequencies[document] as number;
      const score = (wordScores[document] as number) + (formWeight * frequency) / (frequency + K1);
      if (scores[document] === 0) this.#matches.push(document);
      scores[document] = (scores[document] as number) + score;
      frequencies[document] = 0;
      wordScores[document] = keepsWordScores ? score : 0;
    }
  }

  /** Only the best counts: the word's own forms, or one longer or misspelt word. */
  #scoreOther({ selective, otherWeight }: QueryWord, { term, similarity }: TermMatch): void {
    const { postings, postingStart } = this.segment;
    const weight = similarity * otherWeight;
    const to = postingStart[term + 1] as number;
    for (let i = postingStart[term] as number; i < to; i++) {
      const posting = postings[i] as number;
      const document = posting >>> POSTING_DOCUMENT_SHIFT;
      if (!this.#accepts(document, selective)) continue;
      const frequency = this.#frequency(posting, document);
      const score = (weight * frequency) / (frequency + K1);
      const before = wordScores[document] as number;
      if (score <= before) continue;
      if (scores[document] === 0) this.#matches.push(document);
      scores[document] = (scores[document] as number) + score - before;
      wordScores[document] = score;
    }
  }

  #clearWordScores({ term }: TermMatch): void {
    const { postings, postingStart } = this.segment;
    const to = postingStart[term + 1] as number;
    for (let i = postingStart[term] as number; i < to; i++) {
      wordScores[(postings[i] as number) >>> POSTING_DOCUMENT_SHIFT] = 0;
    }
  }
}

import { RERANK_MAX_WORDS } from "../../shared/limits.ts";
import { FIELD, MARK, PARTS } from "../segment/format.ts";
import type { SegmentReader } from "../segment/reader.ts";
import type { Plan, PlannedWord } from "./plan.ts";
import {
  ENTRY_FIT_BONUS,
  HEADING_FIT_BONUS,
  NEAR_WORDS,
  NEARNESS_BONUS,
  REVERSED_SHARE,
  RUN_BONUS,
  TITLE_FIT_BONUS,
} from "./weights.ts";

/**
 * Second pass over one segment: looks at the words of single documents in their order.
 *
 * It adds, as shares of what the query is worth, for words that stand near one another as in the
 * query, and for a title, heading or frontmatter value which is just what was asked for.
 */
export class Reranker {
  readonly #segment: SegmentReader;
  readonly #plan: Plan;
  readonly #candidates: Candidates;
  /** Per word of the query: where it was last seen, and in which stretch of text. */
  readonly #lastAt: Int32Array;
  readonly #lastStretch: Int32Array;
  readonly #nearest: Float64Array;
  /** Worth of the run of near words that ends at the word's last place. */
  readonly #run: Float64Array;
  /** By pair, named by its second word: what the two are worth together. */
  readonly #pairWorth: Float64Array;
  readonly #possible: number;
  #longestRun = 0;
  #stretch = 0;
  /** Of the stretch that is being read: worth of the query's words in it, and words that match. */
  #covered = 0;
  #matching = 0;

  constructor(segment: SegmentReader, index: number, plan: Plan) {
    this.#segment = segment;
    this.#plan = plan;
    this.#candidates = new Candidates(segment, index, plan);
    this.#lastAt = new Int32Array(plan.words.length);
    this.#lastStretch = new Int32Array(plan.words.length);
    this.#nearest = new Float64Array(plan.words.length);
    this.#run = new Float64Array(plan.words.length);
    this.#pairWorth = Float64Array.from(plan.words, (word, w) =>
      w === 0 ? 0 : Math.min(word.worth, (plan.words[w - 1] as PlannedWord).worth),
    );
    this.#possible = this.#pairWorth.reduce((sum, worth) => sum + worth, 0);
  }

  /** Must be called when the reranker is done; its scratch space serves the next one. */
  close(): void {
    this.#candidates.clear();
  }

  /** What to add to the first pass's score. */
  bonus(document: number): number {
    const { words } = this.#segment;
    const start = this.#segment.wordStart[document] as number;
    const end = Math.min(this.#segment.wordStart[document + 1] as number, start + RERANK_MAX_WORDS);
    this.#nearest.fill(0);
    this.#longestRun = 0;
    const fits = { title: 0, heading: 0, entry: 0 };
    let field: number = FIELD.path;
    let i = start;
    while (i < end) {
      const mark = words[i] as number;
      if (mark >= MARK && mark < PARTS) field = mark - MARK;
      const from = mark >= MARK ? i + 1 : i;
      i = this.#readStretch(from, end);
      const fit = this.#fitOf(i - from);
      if (field === FIELD.title) fits.title = Math.max(fits.title, fit);
      else if (field === FIELD.headings) fits.heading = Math.max(fits.heading, fit);
      else if (field >= FIELD.firstKey) fits.entry = Math.max(fits.entry, fit);
    }
    const share =
      NEARNESS_BONUS * this.#nearness() +
      RUN_BONUS * (this.#possible === 0 ? 0 : this.#longestRun / this.#possible) +
      TITLE_FIT_BONUS * fits.title +
      HEADING_FIT_BONUS * fits.heading +
      ENTRY_FIT_BONUS * fits.entry;
    return share * this.#plan.worth;
  }

  /** Reads a title, a heading, a value or the content, up to the next mark; returns its end. */
  #readStretch(from: number, end: number): number {
    const { words } = this.#segment;
    const { wordOf } = this.#candidates;
    this.#stretch++;
    this.#covered = 0;
    this.#matching = 0;
    let i = from;
    for (; i < end; i++) {
      const term = words[i] as number;
      if (term >= MARK) break;
      const word = wordOf[term] as number;
      // Most words of a document are none of the query's: they must cost next to nothing.
      if (word !== 0) this.#meet(word - 1, term, i);
    }
    return i;
  }

  /** How well the stretch fits: the share of the query in it times the share of it in the query. */
  #fitOf(length: number): number {
    if (this.#matching === 0) return 0;
    return (this.#covered / this.#plan.worth) * (this.#matching / length);
  }

  /** Takes note of a word of the query at a place of the document. */
  #meet(word: number, term: number, at: number): void {
    this.#matching++;
    if (this.#lastStretch[word] !== this.#stretch) {
      this.#lastStretch[word] = this.#stretch;
      this.#covered += this.#candidates.coverOf[term] as number;
    }
    this.#lastAt[word] = at;

    const near = this.#closeness(word - 1, at);
    const worth = this.#pairWorth[word] as number;
    const run = near === 0 ? 0 : (this.#run[word - 1] as number) + near * worth;
    this.#run[word] = run;
    this.#longestRun = Math.max(this.#longestRun, run);
    this.#nearest[word] = Math.max(this.#nearest[word] as number, near);

    const reversed = REVERSED_SHARE * this.#closeness(word + 1, at);
    if (reversed > (this.#nearest[word + 1] ?? 0)) this.#nearest[word + 1] = reversed;
  }

  /** 1 when a word of the query stood right before this place, less further off, else 0. */
  #closeness(neighbour: number, at: number): number {
    if (neighbour < 0 || this.#lastStretch[neighbour] !== this.#stretch) return 0;
    const distance = at - (this.#lastAt[neighbour] as number);
    return distance < 1 || distance > NEAR_WORDS ? 0 : 1 / Math.sqrt(distance);
  }

  /** 1 when all words stand side by side in order, 0 when no two are near. */
  #nearness(): number {
    if (this.#possible === 0) return 0;
    let near = 0;
    for (let w = 1; w < this.#nearest.length; w++) {
      near += (this.#pairWorth[w] as number) * (this.#nearest[w] as number);
    }
    return near / this.#possible;
  }
}

/** Scratch space of this thread, all zero between uses; see `score.ts`. */
let wordOfTerm = new Uint8Array(0);
let coverOfTerm = new Float32Array(0);

/** Tells for each term of a segment which word of the query it stands for, and how well. */
export class Candidates {
  /** Position in the plan plus 1; 0 for all other terms. */
  readonly wordOf: Uint8Array;
  /** What it adds to the coverage of the query. */
  readonly coverOf: Float32Array;
  readonly #terms: number[] = [];

  constructor(segment: SegmentReader, index: number, plan: Plan) {
    if (wordOfTerm.length < segment.termCount) {
      wordOfTerm = new Uint8Array(segment.termCount);
      coverOfTerm = new Float32Array(segment.termCount);
    }
    this.wordOf = wordOfTerm;
    this.coverOf = coverOfTerm;
    plan.words.forEach((word, w) => {
      for (const { term, cover } of word.candidates[index] ?? []) {
        if (cover <= (this.coverOf[term] as number)) continue;
        this.wordOf[term] = w + 1;
        this.coverOf[term] = cover;
        this.#terms.push(term);
      }
    });
  }

  clear(): void {
    for (const term of this.#terms) {
      this.wordOf[term] = 0;
      this.coverOf[term] = 0;
    }
  }
}

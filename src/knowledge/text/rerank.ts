import { RERANK_MAX_WORDS } from "../../limits.ts";
import { BREAK, FIELD, MARK } from "./format.ts";
import type { Plan, PlannedWord } from "./plan.ts";
import type { OpenSegment } from "./segment.ts";
import {
  ENTRY_FIT_BONUS,
  HEADING_FIT_BONUS,
  NEAR_WORDS,
  NEARNESS_BONUS,
  REVERSED_SHARE,
  TITLE_FIT_BONUS,
} from "./weights.ts";

/**
 * Second pass over one segment: looks at the words of single documents in their order.
 *
 * It adds, as shares of what the query is worth, for words that stand near one another as in the
 * query, and for a title, heading or frontmatter value which is just what was asked for.
 */
export class Reranker {
  readonly #segment: OpenSegment;
  readonly #plan: Plan;
  readonly #candidates: Candidates;
  /** Per word of the query: where it was last seen, and in which stretch of text. */
  readonly #lastAt: Int32Array;
  readonly #lastStretch: Int32Array;
  readonly #nearest: Float64Array;
  #stretch = 0;

  constructor(segment: OpenSegment, index: number, plan: Plan) {
    this.#segment = segment;
    this.#plan = plan;
    this.#candidates = new Candidates(segment, index, plan);
    this.#lastAt = new Int32Array(plan.words.length);
    this.#lastStretch = new Int32Array(plan.words.length);
    this.#nearest = new Float64Array(plan.words.length);
  }

  /** Must be called when the reranker is done; its scratch space serves the next one. */
  close(): void {
    this.#candidates.clear();
  }

  /** What to add to the first pass's score. */
  bonus(document: number): number {
    const words = this.#segment.wordsOf(document);
    const end = Math.min(words.length, RERANK_MAX_WORDS);
    this.#nearest.fill(0);
    const fits = { title: 0, heading: 0, entry: 0 };
    let field: number = FIELD.path;
    let i = 0;
    while (i < end) {
      const mark = words[i] as number;
      if (mark >= MARK && mark !== BREAK) field = mark - MARK;
      const from = mark >= MARK ? i + 1 : i;
      let to = from;
      while (to < end && (words[to] as number) < MARK) to++;
      const fit = this.#readStretch(words, from, to);
      if (field === FIELD.title) fits.title = Math.max(fits.title, fit);
      else if (field === FIELD.headings) fits.heading = Math.max(fits.heading, fit);
      else if (field >= FIELD.firstKey) fits.entry = Math.max(fits.entry, fit);
      i = to;
    }
    const share =
      NEARNESS_BONUS * this.#nearness() +
      TITLE_FIT_BONUS * fits.title +
      HEADING_FIT_BONUS * fits.heading +
      ENTRY_FIT_BONUS * fits.entry;
    return share * this.#plan.worth;
  }

  /**
   * Reads a title, a heading, a value or the content. Returns how well it fits the query: the share
   * of the query that it holds times the share of it that is in the query.
   */
  #readStretch(words: Uint32Array, from: number, to: number): number {
    const stretch = ++this.#stretch;
    const { wordOf, shareOf } = this.#candidates;
    let covered = 0;
    let matching = 0;
    for (let i = from; i < to; i++) {
      const word = (wordOf[words[i] as number] as number) - 1;
      if (word < 0) continue;
      matching++;
      if (this.#lastStretch[word] !== stretch) {
        covered += shareOf[words[i] as number] as number;
        this.#lastStretch[word] = stretch;
      }
      this.#lastAt[word] = i;
      this.#meet(word, (this.#plan.words[word] as PlannedWord).previous, i, 1);
      this.#meet(word + 1, word + 1, i, REVERSED_SHARE);
    }
    return matching === 0 ? 0 : (covered / this.#plan.worth) * (matching / (to - from));
  }

  /** Notes how near the word at `i` is to its neighbour in the query, if that was just seen. */
  #meet(pair: number, neighbour: number, i: number, share: number): void {
    if (neighbour < 0 || neighbour >= this.#plan.words.length) return;
    if (this.#lastStretch[neighbour] !== this.#stretch) return;
    const distance = i - (this.#lastAt[neighbour] as number);
    if (distance < 1 || distance > NEAR_WORDS) return;
    const near = share / Math.sqrt(distance);
    if (near > (this.#nearest[pair] as number)) this.#nearest[pair] = near;
  }

  /** 1 when all words stand side by side in order, 0 when no two are near. */
  #nearness(): number {
    const { words } = this.#plan;
    let near = 0;
    let possible = 0;
    for (let w = 1; w < words.length; w++) {
      const worth = Math.min((words[w] as PlannedWord).worth, (words[w - 1] as PlannedWord).worth);
      possible += worth;
      near += worth * (this.#nearest[w] as number);
    }
    return possible === 0 ? 0 : near / possible;
  }
}

/** Scratch space of this thread, all zero between uses; see `score.ts`. */
let wordOfTerm = new Uint8Array(0);
let shareOfTerm = new Float32Array(0);

/** Tells for each term of a segment which word of the query it stands for, and how well. */
export class Candidates {
  /** Position in the plan plus 1; 0 for all other terms. */
  readonly wordOf: Uint8Array;
  /** What it adds to the coverage of the query. */
  readonly shareOf: Float32Array;
  readonly #terms: number[] = [];

  constructor(segment: OpenSegment, index: number, plan: Plan) {
    if (wordOfTerm.length < segment.termCount) {
      wordOfTerm = new Uint8Array(segment.termCount);
      shareOfTerm = new Float32Array(segment.termCount);
    }
    this.wordOf = wordOfTerm;
    this.shareOf = shareOfTerm;
    plan.words.forEach((word, w) => {
      for (const { term, gain } of word.candidates[index] ?? []) {
        if (gain <= (this.shareOf[term] as number)) continue;
        this.wordOf[term] = w + 1;
        this.shareOf[term] = gain;
        this.#terms.push(term);
      }
    });
  }

  clear(): void {
    for (const term of this.#terms) {
      this.wordOf[term] = 0;
      this.shareOf[term] = 0;
    }
  }
}

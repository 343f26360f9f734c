import { RERANK_MAX_WORDS } from "../../shared/limits.ts";
import { FIELD, fieldOfMark, SIGNED } from "../segment/format.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { MatchingTerms } from "./matching-terms.ts";
import type { QueryPlan, QueryWord } from "./plan.ts";
import {
  FIT_POWER,
  FRONTMATTER_BONUS,
  HEADING_BONUS,
  PHRASE_BONUS,
  PROXIMITY_BONUS,
  PROXIMITY_MAX_DISTANCE,
  REVERSED_ORDER_SHARE,
  RUN_POWER,
  RUN_POWER_PER_WORD,
  TITLE_BONUS,
  TITLE_START_BONUS,
} from "./weights.ts";

/**
 * Second pass over one segment, which reads the tokens of single documents in order.
 *
 * It adds bonuses, as shares of the query's maximum score: for words that are as close to each other
 * as in the query, for phrases, and for a title, heading or frontmatter value that fits the query.
 *
 * A passage is a title, a heading, a frontmatter value or the content.
 */
export class Reranker {
  readonly #segment: SegmentReader;
  readonly #plan: QueryPlan;
  readonly #terms: MatchingTerms;
  /** Per query word: its last position, and the passage of that position. */
  readonly #lastPosition: Int32Array;
  readonly #lastPassage: Int32Array;
  /** Per query word: weight of the phrase that ends at its last position. */
  readonly #phraseWeight: Float64Array;
  /** Per pair of neighbouring query words, named by the second: weight, and best proximity so far. */
  readonly #pairWeight: Float64Array;
  readonly #pairProximity: Float64Array;
  readonly #totalPairWeight: number;
  readonly #runPower: number;
  #bestPhrase = 0;
  #passage = 0;
  /** Of the current passage: the query coverage in it, and its tokens that match. */
  #coverage = 0;
  #matches = 0;
  /** Of the current passage: where it starts, and how many of its first tokens start the query. */
  #passageStart = 0;
  #leading = 0;

  constructor(segment: SegmentReader, index: number, plan: QueryPlan) {
    this.#segment = segment;
    this.#plan = plan;
    this.#terms = new MatchingTerms(segment, index, plan);
    this.#lastPosition = new Int32Array(plan.words.length);
    this.#lastPassage = new Int32Array(plan.words.length);
    this.#phraseWeight = new Float64Array(plan.words.length);
    this.#pairProximity = new Float64Array(plan.words.length);
    this.#pairWeight = Float64Array.from(plan.words, (word, w) =>
      w === 0 ? 0 : Math.min(word.idf, (plan.words[w - 1] as QueryWord).idf),
    );
    this.#totalPairWeight = this.#pairWeight.reduce((sum, weight) => sum + weight, 0);
    this.#runPower = Math.max(RUN_POWER, RUN_POWER_PER_WORD * plan.words.length);
  }

  /** Must be called after use: the scratch space is shared with the next reranker. */
  close(): void {
    this.#terms.clear();
  }

  /** What to add to the score of the first pass. */
  bonus(document: number): number {
    const { signedTokens: tokens, tokenStart } = this.#segment;
    const start = tokenStart[document] as number;
    const end = Math.min(tokenStart[document + 1] as number, start + RERANK_MAX_WORDS);
    this.#pairProximity.fill(0);
    this.#bestPhrase = 0;
    const fits = { start: 0, title: 0, heading: 0, frontmatter: 0 };
    let field: number = FIELD.path;
    let i = start;
    while (i < end) {
      const mark = tokens[i] as number;
      if (mark < SIGNED.subwords) field = fieldOfMark(mark);
      // The content, which is the last field, earns nothing but proximity and phrases.
      if (field === FIELD.content && this.#totalPairWeight === 0) break;
      const from = mark < 0 ? i + 1 : i;
      i = this.#readPassage(from, end);
      const fit = this.#fit(i - from);
      if (field === FIELD.title) {
        fits.title = Math.max(fits.title, fit);
        fits.start = Math.max(fits.start, this.#startsWithQuery());
      } else if (field === FIELD.headings) fits.heading = Math.max(fits.heading, fit);
      else if (field >= FIELD.firstKey) fits.frontmatter = Math.max(fits.frontmatter, fit);
    }
    const share =
      PROXIMITY_BONUS * this.#proximity() ** this.#runPower +
      PHRASE_BONUS * this.#phrase() ** this.#runPower +
      TITLE_START_BONUS * fits.start +
      TITLE_BONUS * fits.title +
      HEADING_BONUS * fits.heading +
      FRONTMATTER_BONUS * fits.frontmatter;
    return share * this.#plan.maxScore;
  }

  /** Reads up to the next mark and returns its position. */
  #readPassage(from: number, end: number): number {
    const { signedTokens: tokens } = this.#segment;
    const { wordOf } = this.#terms;
    this.#passage++;
    this.#coverage = 0;
    this.#matches = 0;
    this.#passageStart = from;
    this.#leading = 0;
    let i = from;
    for (; i < end; i++) {
      const term = tokens[i] as number;
      if (term < 0) break;
      const word = wordOf[term] as number;
      // Most tokens do not match: they must cost next to nothing.
      if (word !== 0) this.#addMatch(word - 1, term, i);
    }
    return i;
  }

  /** How well the passage fits: the share of the query in it, and the share of it in the query. */
  #fit(length: number): number {
    if (this.#matches === 0) return 0;
    return ((this.#coverage / this.#plan.maxScore) * (this.#matches / length)) ** FIT_POWER;
  }

  /** The coverage of a passage that starts with all words of the query in order, else 0. */
  #startsWithQuery(): number {
    return this.#leading === this.#plan.words.length ? this.#coverage / this.#plan.maxScore : 0;
  }

  #addMatch(word: number, term: number, position: number): void {
    this.#matches++;
    if (this.#lastPassage[word] !== this.#passage) {
      this.#lastPassage[word] = this.#passage;
      this.#coverage += this.#terms.coverageOf[term] as number;
    }
    this.#lastPosition[word] = position;

    if (word === this.#leading && position === this.#passageStart + word) this.#leading++;

    // A run of exact words is worth more than one of other forms.
    const exactness =
      (this.#terms.coverageOf[term] as number) / (this.#plan.words[word] as QueryWord).weight;
    const near = exactness * this.#proximityTo(word - 1, position);
    const weight = this.#pairWeight[word] as number;
    const phrase = near === 0 ? 0 : (this.#phraseWeight[word - 1] as number) + near * weight;
    this.#phraseWeight[word] = phrase;
    this.#bestPhrase = Math.max(this.#bestPhrase, phrase);
    this.#pairProximity[word] = Math.max(this.#pairProximity[word] as number, near);

    const reversed = REVERSED_ORDER_SHARE * this.#proximityTo(word + 1, position);
    if (reversed > (this.#pairProximity[word + 1] ?? 0)) this.#pairProximity[word + 1] = reversed;
  }

  /** 1 if a query word is directly before this position, less if further before, else 0. */
  #proximityTo(word: number, position: number): number {
    if (word < 0 || this.#lastPassage[word] !== this.#passage) return 0;
    const distance = position - (this.#lastPosition[word] as number);
    return distance < 1 || distance > PROXIMITY_MAX_DISTANCE ? 0 : 1 / Math.sqrt(distance);
  }

  /** 1 if all words follow each other in one run, 0 if no two do. */
  #phrase(): number {
    return this.#totalPairWeight === 0 ? 0 : this.#bestPhrase / this.#totalPairWeight;
  }

  /** 1 if all words are next to each other in order, 0 if no two of them are near. */
  #proximity(): number {
    if (this.#totalPairWeight === 0) return 0;
    let near = 0;
    for (let w = 1; w < this.#pairProximity.length; w++) {
      near += (this.#pairWeight[w] as number) * (this.#pairProximity[w] as number);
    }
    return near / this.#totalPairWeight;
  }
}

import { WordStarts } from "../analysis/word-starts.ts";
import type { SegmentReader } from "../segment/reader.ts";
import type { QueryPlan } from "./plan.ts";

/** Scratch space of this thread, all zero between uses; see `score.ts`. */
let wordOfTerm = new Uint8Array(0);
let coverageOfTerm = new Float32Array(0);
const termStarts = new WordStarts();

/** The query word that each term of a segment matches. Call `clear` after use. */
export class MatchingTerms {
  /** Position of the word in the plan plus 1; 0 for terms that match none. */
  readonly wordOf: Uint8Array;
  /** What an occurrence of the term adds to the coverage of the query. */
  readonly coverageOf: Float32Array;
  readonly #terms: number[] = [];
  readonly #segment: SegmentReader;

  constructor(segment: SegmentReader, index: number, plan: QueryPlan) {
    if (wordOfTerm.length < segment.termCount) {
      wordOfTerm = new Uint8Array(segment.termCount);
      coverageOfTerm = new Float32Array(segment.termCount);
    }
    this.#segment = segment;
    this.wordOf = wordOfTerm;
    this.coverageOf = coverageOfTerm;
    plan.words.forEach((word, w) => {
      for (const matches of [word.forms[index], word.others[index]]) {
        for (const { term, coverage } of matches ?? []) {
          if (coverage <= (this.coverageOf[term] as number)) continue;
          this.wordOf[term] = w + 1;
          this.coverageOf[term] = coverage;
          this.#terms.push(term);
        }
      }
    });
  }

  /** How the matching terms start. Like the rest, it is valid until `clear`. */
  starts(): WordStarts {
    const { termChars, termStart } = this.#segment;
    for (const term of this.#terms) {
      termStarts.add(termChars, termStart[term] as number, termStart[term + 1] as number);
    }
    return termStarts;
  }

  clear(): void {
    const { termChars, termStart } = this.#segment;
    for (const term of this.#terms) {
      this.wordOf[term] = 0;
      this.coverageOf[term] = 0;
      termStarts.remove(termChars, termStart[term] as number, termStart[term + 1] as number);
    }
  }
}

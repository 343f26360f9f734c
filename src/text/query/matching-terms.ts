import { WordTable } from "../analysis/word-table.ts";
import type { SegmentReader } from "../segment/reader.ts";
import type { QueryPlan } from "./plan.ts";

/** Scratch space of this thread, as long as the largest segment has terms; all zero between uses. */
let wordOfTerm = new Uint8Array(0);
/** How much of the query an occurrence of the term covers. */
let coverageOfTerm = new Float32Array(0);
const termTable = new WordTable();

/** The query word that each term of a segment matches. Call `clear` after use. */
export class MatchingTerms {
  /** Position of the word in the plan plus 1; 0 for terms that match none. */
  readonly wordOf: Uint8Array;
  readonly #terms: number[] = [];
  readonly #segment: SegmentReader;

  constructor(segment: SegmentReader, index: number, plan: QueryPlan) {
    if (wordOfTerm.length < segment.termCount) {
      wordOfTerm = new Uint8Array(segment.termCount);
      coverageOfTerm = new Float32Array(segment.termCount);
    }
    this.#segment = segment;
    this.wordOf = wordOfTerm;
    plan.words.forEach((word, w) => {
      for (const matches of [word.forms[index], word.others[index]]) {
        for (const { term, coverage } of matches ?? []) {
          if (coverage <= (coverageOfTerm[term] as number)) continue;
          this.wordOf[term] = w + 1;
          coverageOfTerm[term] = coverage;
          this.#terms.push(term);
        }
      }
    });
  }

  /**
   * The terms that match a word which `counts`, under the position of the word in the plan plus 1. Like
   * the rest, it is valid until `clear`.
   */
  table(counts: (word: number) => boolean): WordTable {
    const { termChars, termStart } = this.#segment;
    for (const term of this.#terms) {
      const word = this.wordOf[term] as number;
      if (!counts(word - 1)) continue;
      termTable.add(termChars, termStart[term] as number, termStart[term + 1] as number, word);
    }
    return termTable;
  }

  clear(): void {
    for (const term of this.#terms) {
      this.wordOf[term] = 0;
      coverageOfTerm[term] = 0;
    }
    termTable.clear();
  }
}

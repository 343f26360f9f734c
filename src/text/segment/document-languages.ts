import { stemKeys } from "../../../native/text.ts";
import { languageBits, languageOf } from "../analysis/language.ts";
import { eachToken } from "../analysis/run-tokens.ts";
import { surfaceForm } from "../analysis/surface-form.ts";
import { textOf } from "../analysis/words.ts";
import { MARK } from "./format.ts";
import type { TermTable } from "./term-table.ts";
import type { KnowledgeDocument } from "./types.ts";

/** Pieces with letters of scripts that have stemmers. */
const STEMMED =
  /[\p{sc=Latn}\p{sc=Cyrl}\p{sc=Grek}\p{sc=Armn}\p{sc=Hebr}\p{sc=Arab}\p{sc=Deva}\p{sc=Taml}]/u;

/** Finds the language of each document, and the stems of words with marks, which their tokens lack. */
export class DocumentLanguages {
  readonly #terms: TermTable;
  /** The `languageBits` of each term, once it has occurred. */
  readonly #bits: number[] = [];
  /** By language, the pieces of its documents that are not ASCII. */
  readonly #pieces = new Map<number, Set<string>>();

  constructor(terms: TermTable) {
    this.#terms = terms;
  }

  /** The language of a document, whose pieces are kept. */
  add(document: KnowledgeDocument, tokens: Uint32Array, pieces: ReadonlySet<string>): number {
    const language = languageOf(document, tokens, (token) => this.#bitsOf(token));
    if (pieces.size > 0) {
      const own = this.#pieces.get(language) ?? new Set();
      for (const piece of pieces) if (STEMMED.test(piece)) own.add(piece);
      this.#pieces.set(language, own);
    }
    return language;
  }

  /** The language, key of the stem, and term of each word with marks, one after another. */
  forms(): number[] {
    return [...this.#pieces].flatMap(([language, pieces]) => this.#formsIn(language, pieces));
  }

  #formsIn(language: number, pieces: ReadonlySet<string>): number[] {
    const words: string[] = [];
    const terms: number[] = [];
    for (const piece of pieces) {
      eachToken(piece, (units, from, to, start, end) => {
        const form = surfaceForm(piece.slice(start, end));
        if (form === textOf(units, from, to)) return;
        words.push(form);
        terms.push(this.#terms.number(units, from, to));
      });
    }
    return stemKeys(language, words).flatMap((key, i) =>
      key === null ? [] : [language, key, terms[i] as number],
    );
  }

  #bitsOf(token: number): number {
    if (token >= MARK) return 0;
    let bits = this.#bits[token];
    if (bits === undefined) {
      bits = languageBits(this.#terms.text(token));
      this.#bits[token] = bits;
    }
    return bits;
  }
}

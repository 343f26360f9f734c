import { eachToken } from "../analysis/run-tokens.ts";
import { compoundsIn, subwordsOf } from "../analysis/tokenize.ts";
import { eachWord } from "../analysis/words.ts";
import { JOINED, SUBWORDS } from "./format.ts";
import type { TermTable } from "./term-table.ts";

const FIRST_TOKENS = 4_096;

/** Collects the tokens of a document, as term numbers and marks. Documents follow one another. */
export class TokenWriter {
  readonly #terms: TermTable;
  #tokens = new Uint32Array(FIRST_TOKENS);
  #length = 0;
  /** Words of the current field that may have subwords, such as `getStaticProps`, in order. */
  readonly #candidates = new Set<string>();
  /** Joined spellings and signs of the current field. */
  readonly #joined = new Set<string>();
  readonly #signs = new Set<string>();
  /** Pieces of the current document with other characters than ASCII. */
  #pieces = new Set<string>();

  constructor(terms: TermTable) {
    this.#terms = terms;
  }

  /** The number of tokens and marks of the current document. */
  get length(): number {
    return this.#length;
  }

  mark(value: number): void {
    if (this.#length === this.#tokens.length) {
      const larger = new Uint32Array(this.#length * 2);
      larger.set(this.#tokens);
      this.#tokens = larger;
    }
    this.#tokens[this.#length++] = value;
  }

  /** Adds the tokens of a text. */
  addText(text: string): void {
    eachWord(text, this);
  }

  /**
   * Adds the other spellings of the words in the texts since the last call. They follow the text, so
   * that they do not separate adjacent words.
   */
  addSpellings(): void {
    this.#addJoined();
    this.#addSubwords();
  }

  #addJoined(): void {
    if (this.#joined.size + this.#signs.size === 0) return;
    this.mark(JOINED);
    for (const signs of this.#signs) {
      const units = Uint16Array.from(signs, (sign) => sign.charCodeAt(0));
      this.ascii(units, 0, units.length);
    }
    const joined = [...this.#joined].join(" ");
    this.#joined.clear();
    this.#signs.clear();
    this.addText(joined);
  }

  #addSubwords(): void {
    if (this.#candidates.size === 0) return;
    const subwords = compoundsIn([...this.#candidates].join(" ")).flatMap(subwordsOf);
    if (subwords.length > 0) {
      this.mark(SUBWORDS);
      this.addText(subwords.join(" "));
    }
    this.#candidates.clear();
  }

  /** The tokens of the current document, and its pieces that are not ASCII. The next document starts empty. */
  take(): { tokens: Uint32Array; pieces: ReadonlySet<string> } {
    const tokens = this.#tokens.slice(0, this.#length);
    const pieces = this.#pieces;
    this.#length = 0;
    this.#pieces = new Set();
    this.#candidates.clear();
    this.#joined.clear();
    this.#signs.clear();
    return { tokens, pieces };
  }

  ascii(units: Uint16Array, from: number, to: number): void {
    this.mark(this.#terms.number(units, from, to));
  }

  compound(word: string): void {
    this.#candidates.add(word);
  }

  joined(text: string): void {
    this.#joined.add(text);
  }

  signs(signs: string): void {
    this.#signs.add(signs);
  }

  other(text: string): void {
    this.#pieces.add(text);
    for (const word of compoundsIn(text)) this.#candidates.add(word);
    eachToken(text, (units, from, to) => this.ascii(units, from, to));
  }
}

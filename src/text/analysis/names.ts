import { WORD_MAX_CHARS } from "../../shared/limits.ts";
import { KIND } from "./folding.ts";
import { kindOf, NOT_SIMPLE } from "./simple-runs.ts";

/**
 * Finds names that have a meaning with the symbols around or in their words: `C++`, `C#`, `.NET`, `--flag`,
 * `@scope/name`, `1.2.3`. They are tokens in addition to their words.
 * `native/src/text/page/symbol_names.cc` finds the same.
 */

/** Receives the place of a name in a text. */
type OnName = (from: number, to: number) => void;

const [PLUS, HASH, DOT, DASH, AT, SLASH, UNDERSCORE] = [..."+#.-@/_"].map((symbol) =>
  symbol.charCodeAt(0),
) as [number, number, number, number, number, number, number];

const isDigit = (unit: number | undefined) => unit !== undefined && unit >= 48 && unit <= 57;
const isLetter = (unit: number | undefined) =>
  unit !== undefined && (unit | 32) >= 97 && (unit | 32) <= 122 && unit < 128;
const isWordUnit = (unit: number | undefined) => isDigit(unit) || isLetter(unit);
/** True for the closing bracket of an expression: a dot or a dash after it is an operator. */
const isClosing = (unit: number | undefined) => unit === 41 || unit === 93 || unit === 125;

/** The units that may be the first of a name, before a word, and those that may follow one in a name. */
export const opensName = (unit: number) => unit === DOT || unit === DASH || unit === AT;
export const goesOnInName = (unit: number) => unit === DOT || unit === PLUS || unit === HASH;

/** Finds the names in one text, whose words it receives one after another. */
export class NameFinder {
  readonly #units: Uint16Array;
  readonly #length: number;
  readonly #onName: OnName;
  /** The name whose words are being read, if it ends after the last word. */
  #start = 0;
  #end = 0;

  /** @param units code units of a text of this length, in any case */
  constructor(units: Uint16Array, length: number, onName: OnName) {
    this.#units = units;
    this.#length = length;
    this.#onName = onName;
  }

  /** True if a name continues after the last word. */
  get isOpen(): boolean {
    return this.#end > 0;
  }

  /** Called before a word, if the unit before it opens a name. */
  open(start: number): void {
    if (start < this.#end || !isLetter(this.#at(start))) return;
    const before = this.#at(start - 1);
    if (before === DOT) this.#openDotted(start);
    else if (before === DASH) this.#openFlag(start);
    else if (before === AT) this.#openScoped(start);
  }

  /** Called after a word, if a name is open or may continue. */
  close(start: number, end: number): void {
    const next = this.#at(end);
    if (next === PLUS) this.#closePlus(start, end);
    else if (next === HASH) this.#closeHash(start, end);
    else if (next === DOT && end > this.#end) this.#openVersion(start, end);
    if (this.#end > 0 && end >= this.#end) {
      this.#give(this.#start, this.#end);
      this.#end = 0;
    }
  }

  #at(position: number): number | undefined {
    return position >= 0 && position < this.#length ? this.#units[position] : undefined;
  }

  #give(from: number, to: number): void {
    if (to - from <= WORD_MAX_CHARS && !this.#goesOn(to)) this.#onName(from, to);
  }

  /** True if the unit at a position belongs to the word or, as a mark, to the character before. */
  #goesOn(position: number): boolean {
    const unit = this.#at(position);
    if (unit === undefined || unit < 128) return isLetter(unit);
    const kind = kindOf(unit);
    return kind === KIND.spaced || kind === NOT_SIMPLE;
  }

  #expect(from: number, to: number): void {
    this.#start = from;
    this.#end = to;
  }

  /** The end of the run of such units from a position on. */
  #endOf(from: number, belongs: (unit: number | undefined) => boolean): number {
    let end = from;
    while (belongs(this.#at(end))) end++;
    return end;
  }

  /** The start of the ASCII letters and digits before a position of a word. */
  #startOf(start: number, end: number): number {
    let from = end;
    while (from > start && isWordUnit(this.#at(from - 1))) from--;
    return from;
  }

  /** C++, C++20 */
  #closePlus(start: number, end: number): void {
    const next = this.#at(end + 2);
    const isName = this.#at(end + 1) === PLUS && next !== PLUS && !isLetter(next);
    const from = this.#startOf(start, end);
    if (isName && from < end) this.#give(from, end + 2);
  }

  /** C# */
  #closeHash(start: number, end: number): void {
    const next = this.#at(end + 1);
    if (isWordUnit(next) || next === HASH || !isLetter(this.#at(end - 1))) return;
    this.#give(this.#startOf(start, end), end + 1);
  }

  /** 1.2.3 and v1.2.3, which are the same. */
  #openVersion(start: number, end: number): void {
    if (!isDigit(this.#at(end + 1))) return;
    let from = end;
    while (from > start && isDigit(this.#at(from - 1))) from--;
    if (from === end) return;
    const isMarked = from > start && ((this.#at(from - 1) as number) | 32) === 118;
    const before = isMarked ? from - 1 : from;
    if (before > start && isWordUnit(this.#at(before - 1))) return;
    let to = end;
    while (this.#at(to) === DOT && isDigit(this.#at(to + 1))) to = this.#endOf(to + 1, isDigit);
    this.#expect(from, to);
  }

  /** .NET, .gitignore */
  #openDotted(start: number): void {
    const before = this.#at(start - 2);
    if (isWordUnit(before) || before === DOT || isClosing(before)) return;
    this.#expect(start - 1, this.#endOf(start, isWordUnit));
  }

  /** --flag, --dry-run, -v */
  #openFlag(start: number): void {
    const from = this.#at(start - 2) === DASH ? start - 2 : start - 1;
    const before = this.#at(from - 1);
    if (isWordUnit(before) || before === DASH || isClosing(before)) return;
    let to = this.#endOf(start, isWordUnit);
    // After a single dash, more than one letter is more likely a part of a word.
    const isLong = from === start - 2;
    if (!isLong && (to > start + 1 || (before !== undefined && before >= 128))) return;
    while (this.#at(to) === DASH && isWordUnit(this.#at(to + 1)))
      to = this.#endOf(to + 1, isWordUnit);
    this.#expect(from, to);
  }

  /** @scope/name, @decorator */
  #openScoped(start: number): void {
    const before = this.#at(start - 2);
    if (isWordUnit(before) || before === DOT || before === AT) return;
    const belongs = (unit: number | undefined) =>
      isWordUnit(unit) || unit === DASH || unit === UNDERSCORE || unit === DOT;
    let to = this.#endOf(start, belongs);
    if (this.#at(to) === SLASH && isWordUnit(this.#at(to + 1))) to = this.#endOf(to + 1, belongs);
    while (!isWordUnit(this.#at(to - 1))) to--;
    this.#expect(start - 1, to);
  }
}

import { WORD_MAX_CHARS } from "../../shared/limits.ts";
import { geminatedIn, isJoint, joinedAt } from "./joined.ts";
import { goesOnInName, NameFinder, opensName } from "./names.ts";
import { unitsOf } from "./text-units.ts";

const SEPARATOR = 0;
const OTHER = 255;
const LAST_TYPOGRAPHIC = 0x205e;

/**
 * The folded unit of each UTF-16 code unit: itself for ASCII digits and lower-case letters, the lower-case letter for
 * upper-case ones, SEPARATOR, or OTHER for units that need more than a table.
 */
const FOLDED = new Uint8Array(65_536).fill(OTHER);
for (let unit = 0; unit <= LAST_TYPOGRAPHIC; unit++) FOLDED[unit] = foldedUnit(unit);

function foldedUnit(unit: number): number {
  if (unit >= 128) return isTypographic(unit) ? SEPARATOR : OTHER;
  if (unit >= 65 && unit <= 90) return unit + 32;
  return (unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57) ? unit : SEPARATOR;
}

/** Typographic quotes, dashes and spaces: most characters of English texts that are not ASCII. */
function isTypographic(unit: number): boolean {
  if (unit < 0x2010 || unit > LAST_TYPOGRAPHIC) return unit === 0xa0;
  // U+203C and U+2049 are pictographs; U+2028 to U+202E are rare.
  return unit !== 0x203c && unit !== 0x2049 && (unit < 0x2028 || unit > 0x202e);
}

/** The text of code units. */
export function textOf(units: Uint16Array, from: number, to: number): string {
  let text = "";
  for (let i = from; i < to; i++) text += String.fromCharCode(units[i] as number);
  return text;
}

/** Receives the words of a text in order. Positions in `units` are those in the text. */
export interface WordSink {
  /** A word of ASCII letters and digits that ends at `end`: the token is its code units, in lower case. */
  ascii(units: Uint16Array, from: number, to: number, end: number): void;
  /**
   * An ASCII word with a capital inside, such as `getStaticProps` or `HTTP`, or with both letters and digits,
   * such as `utf8`, after its token.
   */
  compound(word: string): void;
  /** A piece of text with other characters, without any ASCII separator, that starts at `start`. */
  other(text: string, start: number): void;
  /** Joined spellings, such as `USA` for `U.S.A.`, and their positions. */
  joined(text: string, start: number, end: number): void;
  /** Two or three signs together, such as `?.`, that start at `start`. */
  signs(signs: string, start: number): void;
}

const SIGNS = new Set("!?&|=<>:~^%+*.@#$-/\\");
const SIGNS_MAX = 3;
const isSign = Uint8Array.from({ length: 128 }, (_, unit) =>
  SIGNS.has(String.fromCharCode(unit)) ? 1 : 0,
);

/** Every letter has this bit, and no digit. */
const LETTER_BIT = 0x40;
const QUOTE = 34;
const isHebrew = (unit: number | undefined) => unit !== undefined && unit >= 0x5d0 && unit <= 0x5ea;

/** Cuts a text at separators. Does not create a string for a word in ASCII. */
export function eachWord(text: string, sink: WordSink): void {
  // A copy, which is converted to lower case while it is read.
  const units = unitsOf(text);
  const { length } = text;
  const names = new NameFinder(units, length, (from, to) => sink.ascii(units, from, to, to));
  for (let i = 0; i < length; i++) {
    let unit = units[i] as number;
    let folded = FOLDED[unit] as number;
    if (folded === SEPARATOR) {
      if (isSign[unit] === 1) {
        const end = endOfSigns(units, i, length);
        if (end - i > 1 && end - i <= SIGNS_MAX) sink.signs(text.slice(i, end), i);
        i = end - 1;
      }
      continue;
    }
    const start = i;
    if (start > 0 && opensName(units[start - 1] as number)) names.open(start);
    let hasInnerUpper = false;
    let isAscii = true;
    let some = 0;
    let all = LETTER_BIT;
    do {
      if (folded === OTHER) isAscii = false;
      else if (folded !== unit) {
        units[i] = folded;
        if (i > start) hasInnerUpper = true;
      }
      some |= folded;
      all &= folded;
      i++;
      if (i === length) break;
      unit = units[i] as number;
      folded = FOLDED[unit] as number;
    } while (folded !== SEPARATOR || (unit === QUOTE && isGershayim(units, i, length)));
    if (isAscii) {
      sink.ascii(units, start, Math.min(i, start + WORD_MAX_CHARS), i);
      const isMixed = all === 0 && (some & LETTER_BIT) !== 0;
      if (hasInnerUpper || isMixed) sink.compound(text.slice(start, i));
    } else {
      const piece = text.slice(start, i);
      sink.other(piece, start);
      const joined = geminatedIn(piece);
      if (joined !== undefined) sink.joined(joined, start, i);
    }
    if (names.isOpen || goesOnInName(unit)) names.close(start, i);
    if (isJoint(units, start, i, unit)) {
      const joined = joinedAt(text, start);
      if (joined !== undefined) sink.joined(joined.text, joined.start, joined.end);
    }
    // Signs may start with the separator.
    i--;
  }
}

function endOfSigns(units: Uint16Array, start: number, length: number): number {
  let end = start;
  while (end < length && isSign[units[end] as number] === 1) end++;
  return end;
}

/** True for a quote within a Hebrew acronym. */
function isGershayim(units: Uint16Array, at: number, length: number): boolean {
  return at + 1 < length && isHebrew(units[at - 1]) && isHebrew(units[at + 1]);
}

import { WORD_MAX_CHARS } from "../../shared/limits.ts";
import { unitsOf } from "./text-units.ts";

const SEPARATOR = 0;
/** Lower-case ASCII letters and digits. */
const LOWER = 1;
/** Upper-case ASCII letters. */
const UPPER = 2;
const OTHER = 3;

/** The kind of each UTF-16 code unit. */
const KINDS = Uint8Array.from({ length: 65_536 }, (_, unit) => {
  if (unit >= 128) return isTypographic(unit) ? SEPARATOR : OTHER;
  if (unit >= 65 && unit <= 90) return UPPER;
  return (unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57) ? LOWER : SEPARATOR;
});

/** Typographic quotes, dashes and spaces: most of what English texts have besides ASCII. */
function isTypographic(unit: number): boolean {
  if (unit < 0x2010 || unit > 0x205e) return unit === 0xa0;
  // U+203C and U+2049 are pictographs; U+2028 to U+202E are rare.
  return unit !== 0x203c && unit !== 0x2049 && (unit < 0x2028 || unit > 0x202e);
}

/** True for ASCII and typographic separators; other scripts have more. */
export function isSeparator(unit: number): boolean {
  return KINDS[unit] === SEPARATOR;
}

/** A code unit, ASCII letters in lower case. */
export function folded(unit: number): number {
  return KINDS[unit] === UPPER ? unit + 32 : unit;
}

/** The text of code units, ASCII letters in lower case. */
export function foldedText(units: Uint16Array, from: number, to: number): string {
  let text = "";
  for (let i = from; i < to; i++) text += String.fromCharCode(folded(units[i] as number));
  return text;
}

/** Receives the words of a text in order. */
interface WordSink {
  /** A word of ASCII letters and digits: the token is its code units, folded. */
  ascii(units: Uint16Array, from: number, to: number): void;
  /** An ASCII word with a capital inside, such as `getStaticProps` or `HTTP`, after its token. */
  innerUpper(word: string): void;
  /** A piece of text with other characters, without any ASCII separator. */
  other(text: string): void;
  /** True when no more words are wanted. */
  readonly isFull: boolean;
}

/** Cuts a text at separators. A word in ASCII costs no string. */
export function eachWord(text: string, sink: WordSink): void {
  const units = unitsOf(text);
  const { length } = text;
  for (let i = 0; i < length; i++) {
    let kind = KINDS[units[i] as number] as number;
    if (kind === SEPARATOR) continue;
    if (sink.isFull) return;
    const start = i;
    let innerKinds = 0;
    let isAscii = true;
    do {
      if (kind === OTHER) isAscii = false;
      i++;
      if (i === length) break;
      kind = KINDS[units[i] as number] as number;
      innerKinds |= kind;
    } while (kind !== SEPARATOR);
    if (isAscii) {
      sink.ascii(units, start, Math.min(i, start + WORD_MAX_CHARS));
      if ((innerKinds & UPPER) !== 0) sink.innerUpper(text.slice(start, i));
    } else sink.other(text.slice(start, i));
  }
}

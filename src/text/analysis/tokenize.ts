import { WORD_MAX_CHARS } from "../../shared/limits.ts";
import { unitsOf } from "./text-units.ts";
import { eachWord, foldedText, isSeparator } from "./words.ts";

/**
 * Splits text into tokens, the same way for documents and queries.
 *
 * Text is folded first: compatibility forms (NFKC), case, and the accents of Latin, Greek and
 * Cyrillic letters. A token is a run of letters, digits and their marks. In scripts that are written
 * without spaces, every pair of neighbouring characters (bigram) is a token, and so is the last
 * character of a run, so that every single character is a prefix of some token. Pictographs are
 * tokens too.
 */
export function tokenize(text: string): string[] {
  const tokens: string[] = [];
  eachWord(text, {
    isFull: false,
    ascii: (units, from, to) => tokens.push(foldedText(units, from, to)),
    other: (piece) => tokens.push(...unicodeTokens(piece)),
    innerUpper: () => {},
  });
  return tokens;
}

/** The identifiers in mixed case in a text, such as `getStaticProps` or `HTTPServer`. */
export function identifiersIn(text: string): string[] {
  return text.match(MIXED_CASE) ?? [];
}

/** The subwords of an identifier: get, Static, Props; HTTP, Server. */
export function subwordsOf(identifier: string): string[] {
  return identifier.match(SUBWORD) ?? [];
}

// Nothing follows the last repetition, so matching takes linear time.
const MIXED_CASE =
  /(?<![A-Za-z0-9])(?:[A-Za-z][A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*)/g;
const SUBWORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;

/** Folds text for comparison: NFKC, lower case, no accents. */
function fold(text: string): string {
  const lower = text.normalize("NFKC").replace(INVISIBLE, "").toLowerCase();
  if (isAscii(lower)) return lower;
  // Only these marks are accents. NFC recomposes the others, such as Japanese voicing marks.
  return lower
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .replace(/[ßæœøłđðþı]/g, (letter) => LETTERS[letter] ?? letter);
}

/** True if a token is of a script that is written without spaces between words. */
export function isUnspaced(token: string): boolean {
  return UNSPACED_START.test(token);
}

/** Soft hyphens and zero-width characters occur inside words without being part of them. */
const INVISIBLE_SET = "\\u00ad\\u200b-\\u200d\\u2060\\ufeff";
const INVISIBLE = new RegExp(`[${INVISIBLE_SET}]`, "g");

const LETTERS: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};

const UNSPACED =
  "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}ー々";
const UNSPACED_START = new RegExp(`^[${UNSPACED}]`, "u");
const RUNS = new RegExp(
  `[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])+|\\p{Extended_Pictographic}`,
  "gu",
);
/** Like RUNS for text that is not folded yet. */
const SPAN_RUNS = new RegExp(
  `[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}${INVISIBLE_SET}])+|\\p{Extended_Pictographic}`,
  "gu",
);
const NOT_ASCII = /[^\0-\x7f]/;

function isAscii(text: string): boolean {
  return !NOT_ASCII.test(text);
}

/** The tokens of a text in any script. */
export function unicodeTokens(text: string): string[] {
  const tokens: string[] = [];
  for (const [run] of fold(text).matchAll(RUNS)) {
    if (UNSPACED_START.test(run)) pushBigrams(run, tokens);
    else tokens.push(truncate(run));
  }
  return tokens;
}

function pushBigrams(run: string, tokens: string[]): void {
  let previous = "";
  for (const character of run) {
    if (previous !== "") tokens.push(previous + character);
    previous = character;
  }
  tokens.push(previous);
}

/** Truncates a long token, but not in the middle of a surrogate pair. */
function truncate(token: string): string {
  if (token.length <= WORD_MAX_CHARS) return token;
  const last = token.charCodeAt(WORD_MAX_CHARS - 1);
  return token.slice(0, last >= 0xd800 && last <= 0xdbff ? WORD_MAX_CHARS - 1 : WORD_MAX_CHARS);
}

interface WordSpan {
  /** In UTF-16 code units. */
  start: number;
  /** Exclusive. */
  end: number;
  token: string;
}

/**
 * The words of a text, where they are, and the token that each has in the index. In unspaced scripts
 * every pair of neighbouring characters is a word.
 *
 * @param starts Most words of a text are of no interest: those in ASCII letters and digits are only
 *   given if they start like one of these.
 */
export function wordSpans(text: string, starts: WordStarts): WordSpan[] {
  const spans: WordSpan[] = [];
  const units = unitsOf(text);
  const { length } = text;
  for (let i = 0; i < length; ) {
    const start = i;
    let isPlain = true;
    for (; i < length; i++) {
      const unit = units[i] as number;
      if (isSeparator(unit)) break;
      if (unit >= 128) isPlain = false;
    }
    if (i === start) i++;
    else if (!isPlain) pushOtherSpans(text, start, i, spans);
    else if (starts.has(units[start] as number, i > start + 1 ? (units[start + 1] as number) : 0)) {
      const token = truncate(text.slice(start, i).toLowerCase());
      spans.push({ start, end: i, token });
    }
  }
  return spans;
}

/** The first two UTF-16 code units of words, to tell most other words apart from them. */
export class WordStarts {
  /** Both cases of ASCII letters have the same mark, and so have some other units. */
  readonly #marks = new Uint8Array(1 << (2 * START_BITS));

  /** `second` is 0 for a word of one unit. */
  add(first: number, second: number): void {
    this.#marks[startCode(first, second)] = 1;
  }

  /** False only if no such word was added, in whatever case. */
  has(first: number, second: number): boolean {
    return this.#marks[startCode(first, second)] === 1;
  }
}

/** The lowest bits of a unit that tell letters apart. */
const START_BITS = 5;
const START_MASK = (1 << START_BITS) - 1;

function startCode(first: number, second: number): number {
  return ((first & START_MASK) << START_BITS) | (second & START_MASK);
}

function pushOtherSpans(text: string, start: number, end: number, spans: WordSpan[]): void {
  for (const match of text.slice(start, end).matchAll(SPAN_RUNS)) {
    pushSpans(match[0], start + match.index, spans);
  }
}

function pushSpans(run: string, start: number, spans: WordSpan[]): void {
  if (!UNSPACED_START.test(run)) {
    for (const token of unicodeTokens(run)) spans.push({ start, end: start + run.length, token });
    return;
  }
  let previous = "";
  let at = start;
  for (const character of run) {
    if (previous !== "") {
      const token = unicodeTokens(previous + character)[0];
      const end = at + previous.length + character.length;
      if (token !== undefined) spans.push({ start: at, end, token });
      at += previous.length;
    }
    previous = character;
  }
  const [token] = unicodeTokens(previous);
  if (token !== undefined) spans.push({ start: at, end: at + previous.length, token });
}

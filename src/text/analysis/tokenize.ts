import { WORD_MAX_CHARS } from "../../shared/limits.ts";

/**
 * Cuts text into words the same way for documents and queries.
 *
 * Text is folded first: compatibility forms (NFKC), case, and the accents of Latin, Greek and
 * Cyrillic letters. A word is a run of letters, digits and their marks. Scripts that are written
 * without spaces have no such runs; there, every pair of neighbouring characters is a word, and the
 * last character of a run is one by itself, so that a single character is always the beginning of
 * some word. Pictographs are words too.
 */
export function tokenize(text: string): string[] {
  return isAscii(text) ? asciiWords(text) : unicodeWords(text);
}

/**
 * The parts of names such as `getStaticProps` or `HTTPServer`, which are one word each: get, Static,
 * Props, HTTP, Server. Each name counts once, however often it occurs.
 */
export function splitIdentifiers(text: string): string[] {
  const names = new Set(text.match(MIXED_CASE));
  return [...names].flatMap((name) => name.match(CASE_PART) ?? []);
}

// Nothing follows the last repetition, so a run of letters is read once however long it is.
const MIXED_CASE =
  /(?<![A-Za-z0-9])(?:[A-Za-z][A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*)/g;
const CASE_PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;

/** Folds a piece of text for comparison: NFKC, lower case, no accents. */
export function fold(text: string): string {
  const lower = text.normalize("NFKC").replace(INVISIBLE, "").toLowerCase();
  if (isAscii(lower)) return lower;
  // Only these marks are accents; Japanese voicing marks are put back together by NFC.
  return lower
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .replace(/[ßæœøłđðþı]/g, (letter) => LETTERS[letter] ?? letter);
}

/** True for characters of scripts that are written without spaces between words. */
export function isUnspaced(word: string): boolean {
  return UNSPACED_START.test(word);
}

/** Soft hyphens and zero-width characters stand inside words without belonging to them. */
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g;

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
const NOT_ASCII = /[^\0-\x7f]/;

function isAscii(text: string): boolean {
  return !NOT_ASCII.test(text);
}

function unicodeWords(text: string): string[] {
  const words: string[] = [];
  for (const [run] of fold(text).matchAll(RUNS)) {
    if (UNSPACED_START.test(run)) pushPairs(run, words);
    else words.push(cut(run));
  }
  return words;
}

function pushPairs(run: string, words: string[]): void {
  let previous = "";
  for (const character of run) {
    if (previous !== "") words.push(previous + character);
    previous = character;
  }
  words.push(previous);
}

function asciiWords(text: string): string[] {
  const folded = text.toLowerCase();
  const words: string[] = [];
  let start = -1;
  for (let i = 0; i <= folded.length; i++) {
    const code = i < folded.length ? folded.charCodeAt(i) : 0;
    const inWord = (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
    if (inWord) {
      if (start < 0) start = i;
    } else if (start >= 0) {
      words.push(cut(folded.slice(start, i)));
      start = -1;
    }
  }
  return words;
}

/** Cuts an overlong word, but never through a surrogate pair. */
function cut(word: string): string {
  if (word.length <= WORD_MAX_CHARS) return word;
  const last = word.charCodeAt(WORD_MAX_CHARS - 1);
  return word.slice(0, last >= 0xd800 && last <= 0xdbff ? WORD_MAX_CHARS - 1 : WORD_MAX_CHARS);
}

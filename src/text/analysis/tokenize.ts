import { WORD_MAX_CHARS } from "../../shared/limits.ts";
import { fold, UNSPACED } from "./folding.ts";
import { eachSimpleRun, RUN } from "./simple-runs.ts";
import { eachWord, textOf } from "./words.ts";

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
    ascii: (units, from, to) => tokens.push(textOf(units, from, to)),
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

/** True if a token is of a script that is written without spaces between words. */
export function isUnspaced(token: string): boolean {
  return UNSPACED_START.test(token);
}

const UNSPACED_START = new RegExp(`^[${UNSPACED}]`, "u");
const RUNS = new RegExp(
  `[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])+|\\p{Extended_Pictographic}`,
  "gu",
);

/** Receives a token as code units, which are overwritten later. */
type OnToken = (units: Uint16Array, from: number, to: number) => void;

/** Gives the tokens of a text in any script. `onToken` must not tokenize. */
export function eachToken(text: string, onToken: OnToken): void {
  const isSimple = eachSimpleRun(text, (kind, units, from, to) => {
    if (kind === RUN.spaced) onToken(units, from, Math.min(to, from + WORD_MAX_CHARS));
    else for (let i = from; i < to; i++) onToken(units, i, Math.min(to, i + 2));
  });
  if (isSimple) return;
  const units = new Uint16Array(WORD_MAX_CHARS);
  for (const token of normalisedTokens(text)) {
    for (let i = 0; i < token.length; i++) units[i] = token.charCodeAt(i);
    onToken(units, 0, token.length);
  }
}

/** The tokens of a text in any script. */
export function unicodeTokens(text: string): string[] {
  const tokens: string[] = [];
  eachToken(text, (units, from, to) => tokens.push(textOf(units, from, to)));
  return tokens;
}

/** The tokens of a text that has to be normalised as a whole. */
function normalisedTokens(text: string): string[] {
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

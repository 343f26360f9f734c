import {
  functionWords,
  isUnspaced,
  languagesOf,
  spellingSpans,
  subwordsOf,
} from "../../../native/words.ts";

/**
 * How else texts may write the words of a query: joined (`timezone` for `time zone`, `nodejs` for `Node.js`) or apart.
 * Native code looks up which of these spellings the documents in scope have.
 */

/** The positions at which a word may be written apart. Bit i stands for a part that starts at character i. */
export interface Cuts {
  /** Into two words, at any one of these places. */
  readonly pairs: number;
  /** The same where all texts are in English: the first word is a function word of another language. */
  readonly englishPairs: number;
  /** Into the parts of a name such as `maxPoolGates`, at all of these places. */
  readonly parts: number;
}

export const NO_CUTS: Cuts = { pairs: 0, englishPairs: 0, parts: 0 };

const bitOf = (code: string) => 1 << Object.keys(functionWords).indexOf(code);
const ENGLISH_BIT = bitOf("en");
const FRENCH_BIT = bitOf("fr");

/** The last character that a cut may follow: cuts are bits of a 32-bit number. */
const CUT_MAX_CHARS = 31;
const PAIR_MIN_CHARS = 3;
const NEIGHBOURS_MIN_CHARS = 4;
const LETTERS = /^[\p{L}\p{M}]+$/u;
const ASCII_WORD = /^[A-Za-z0-9]+$/;
const NUMBERS_AND_LETTERS = /\d+|\D+/g;
/** An ending in English: `user's` is another form of `user`. */
const POSSESSIVE = "s";
/** Function words that end other words: login, setup, readonly. */
const PARTICLES = new Set("all by down in off on once only out over through under up".split(" "));

/** @param written the word as the query writes it */
export function cutsOf(text: string, written: string): Cuts {
  if (text.length > CUT_MAX_CHARS + 1) return NO_CUTS;
  let [pairs, englishPairs] = [0, 0];
  if (text.length >= PAIR_MIN_CHARS && LETTERS.test(text)) {
    for (let at = 1; at < text.length; at++) {
      const first = text.slice(0, at);
      if (!isPair(first, text.slice(at))) continue;
      if (languagesOf(first) === 0) pairs |= 1 << at;
      else englishPairs |= 1 << at;
    }
  }
  // A name in other letters shows its parts by numbers alone.
  const parts = ASCII_WORD.test(written) ? subwordsOf(written) : text.match(NUMBERS_AND_LETTERS);
  return { pairs: pairs >>> 0, englishPairs: englishPairs >>> 0, parts: startsOf(parts ?? []) };
}

function startsOf(parts: readonly string[]): number {
  let [starts, at] = [0, 0];
  for (const part of parts) {
    if (at > 0) starts |= 1 << at;
    at += part.length;
  }
  return starts >>> 0;
}

/**
 * True if two words can be one. A function word belongs to the words around it instead: `the rapist` is not
 * `therapist`, and `now here` is not `nowhere`. The same holds for parts of words that French and English write with an
 * apostrophe.
 */
function isPair(first: string, second: string): boolean {
  const own = languagesOf(first);
  const fronts = first.length === 1 ? ENGLISH_BIT | FRENCH_BIT : ENGLISH_BIT;
  if ((own & fronts) !== 0 || second === POSSESSIVE) return false;
  const other = languagesOf(second);
  return (own & other) === 0 && ((other & ENGLISH_BIT) === 0 || PARTICLES.has(second));
}

/** A spelling as one word of successive words of a query. */
export interface JoinedSpelling {
  /** The places of the first and the last of the words. */
  readonly first: number;
  readonly last: number;
  readonly text: string;
}

interface PlacedToken {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const LINK = /^[-‐‑_./·'’‘ʹ-ʿꞋꞌ&]$/u;
const JOINABLE = /^[\p{L}\p{M}\p{N}]+$/u;
const ENDS_IN_DIGIT = /\d$/;
const STARTS_WITH_DIGIT = /^\d/;
/** An umlaut at the beginning of a word. Stemmers do not read it as two letters. */
const UMLAUT = /^[äöü]/i;
const TWO_LETTERS = /^([aou])e/;

/**
 * The spellings of the words of a query as one: of neighbours, of those that signs link, and of numbers, abbreviations
 * and words that have others.
 *
 * @param words the distinct words
 */
export function joinedSpellings(
  query: string,
  tokens: readonly PlacedToken[],
  words: readonly string[],
): JoinedSpelling[] {
  const places = new Map(words.map((text, place) => [text, place]));
  const spellings = new Map<string, JoinedSpelling>();
  const add = (own: readonly PlacedToken[], text: string) => {
    const [first = 0, ...others] = own.map((token) => places.get(token.text) as number);
    const isRun = others.every((place, i) => place === first + i + 1);
    if (!isRun || places.has(text) || spellings.has(text)) return;
    spellings.set(text, { first, last: first + others.length, text });
  };
  const plain = tokens.filter(({ text }) => JOINABLE.test(text) && !isUnspaced(text));
  let chain: PlacedToken[] = [];
  for (const token of plain) {
    const before = chain.at(-1);
    const link = before === undefined ? "" : query.slice(before.end, token.start);
    const isLinked = before !== undefined && LINK.test(link) && isLinkable(before.text, token.text);
    if (before !== undefined && !isLinked) {
      addChain(chain, add);
      if (isNeighbour(before.text, token.text, link)) addRun([before, token], add);
    }
    chain = isLinked ? [...chain, token] : [token];
    const other = umlautOf(query.slice(token.start, token.end).normalize(), token.text);
    if (other !== undefined) add([token], other);
  }
  addChain(chain, add);
  for (const { start, end, token: text } of spellingSpans(query)) {
    const own = plain.filter((token) => token.start >= start && token.end <= end);
    if (own.length > 0) add(own, text);
  }
  return [...spellings.values()];
}

/** Adds a chain of words that signs link, and the pairs of words in it. */
function addChain(
  chain: readonly PlacedToken[],
  add: (own: readonly PlacedToken[], text: string) => void,
): void {
  if (chain.length > 2) addRun(chain, add);
  for (let i = 1; i < chain.length; i++) {
    const pair = chain.slice(i - 1, i + 1);
    const hasLetter = pair.some(({ text }) => text.length === 1);
    if (chain.length === 2 || !hasLetter) addRun(pair, add);
  }
}

/** Adds words as one, unless the result is a function word: `in` and `to` are not `into`. */
function addRun(
  run: readonly PlacedToken[],
  add: (own: readonly PlacedToken[], text: string) => void,
): void {
  const text = run.map((token) => token.text).join("");
  if ((languagesOf(text) & ENGLISH_BIT) === 0) add(run, text);
}

const isLinkable = (before: string, after: string) =>
  !isNumber(before, after) && after !== POSSESSIVE;

/** Digits on both sides: `1.5` is another number than `15`. */
const isNumber = (before: string, after: string) =>
  ENDS_IN_DIGIT.test(before) && STARTS_WITH_DIGIT.test(after);

/** True if two words with `between` between them can be one word. */
function isNeighbour(before: string, after: string, between: string): boolean {
  if (between.trim() !== "" || isNumber(before, after)) return false;
  const isLong = before.length + after.length >= NEIGHBOURS_MIN_CHARS;
  return (isLong || ENDS_IN_DIGIT.test(before)) && isPair(before, after);
}

/** `ueber` for `über`, and the other way round. */
function umlautOf(written: string, text: string): string | undefined {
  if (UMLAUT.test(written)) return `${text.charAt(0)}e${text.slice(1)}`;
  return TWO_LETTERS.test(text) ? text.replace(TWO_LETTERS, "$1") : undefined;
}

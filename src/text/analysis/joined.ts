/**
 * Words that some texts write with signs or spaces and others as one: numbers with their thousands apart, telephone
 * numbers, abbreviations with dots or `&`, numbers with `0x`; and words with hyphens or apostrophes which a query does not
 * cut, because they have more than two parts, or one is a function word.
 */

interface Joined {
  /** As one word. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const codeOf = (sign: string) => sign.charCodeAt(0);
const [DOT, AND, DASH, UNDERSCORE, QUOTE, TURNED] = [".", "&", "-", "_", "'", "’"].map(codeOf);
const [A, I, O] = ["a", "i", "o"].map(codeOf);
const [ZERO, X, NINE] = ["0", "x", "9"].map(codeOf) as [number, number, number];
const THOUSANDS_MAX_CHARS = 3;
const FUNCTION_WORD_MAX_CHARS = 5;

/** True if a word can be the first part of a joined spelling. `joinedAt` then decides. */
export function isJoint(units: Uint16Array, start: number, end: number, next: number): boolean {
  if (next === DASH || next === UNDERSCORE) return isChain(units, start, end);
  if (next === AND) return true;
  if ((next === QUOTE || next === TURNED) && isVowel(units[end + 1])) return end - start > 1;
  if (next === DOT && end - start === 1) return true;
  const first = units[start] as number;
  if (first < ZERO || first > NINE) return false;
  return end - start <= THOUSANDS_MAX_CHARS || (first === ZERO && units[start + 1] === X);
}

/** Function words that end names after an apostrophe begin with these, and the ends of contractions with other letters. */
const isVowel = (unit: number | undefined) => unit === A || unit === I || unit === O;

/** True if three parts may follow each other, or if the first one may be a function word. Queries cut other pairs. */
function isChain(units: Uint16Array, start: number, end: number): boolean {
  if (units[start - 1] === UNDERSCORE) return false;
  if (units[end] === DASH && end - start <= FUNCTION_WORD_MAX_CHARS) return true;
  let next = end + 1;
  while (isWordUnit(units[next])) next++;
  return next > end + 1 && (units[next] === DASH || units[next] === UNDERSCORE);
}

/** Some signs count, too: the pattern decides. */
const isWordUnit = (unit: number | undefined) =>
  unit !== undefined && unit >= ZERO && unit !== UNDERSCORE;

const SPACES = " \\u00a0\\u2009\\u202f";
const THOUSANDS = `(?:,\\d{3})+|(?:[${SPACES}]\\d{3})+|(?:['’]\\d{3})+|(?:\\.\\d{3}){2,}`;
const KINDS = [
  // U.S.A., e.g.
  "(?<!\\p{L}\\.)\\p{L}(?:(?:\\.\\p{L}){2,}(?![\\p{L}\\p{N}])|\\.\\p{L}(?=\\.))",
  // AT&T
  "(?<![\\p{L}&])\\p{Lu}{1,4}&\\p{Lu}{1,4}(?![\\p{L}&])",
  // +49 30 1234567
  "(?<=\\+)(?=(?:[ ()/.-]*\\d){7})\\d{1,3}(?:[ ()/.-]{1,3}\\d+){1,6}",
  // 24,500
  `(?<!\\d[,.'’${SPACES}])\\d{1,3}(?:${THOUSANDS})(?![\\p{L}\\p{N}]|,\\d)`,
  // 0x80070ABC
  "0[xX][\\dA-Fa-f]{4,16}(?![\\p{L}\\p{N}])",
  // Qur'an, Xi'an, but not qu'on
  "(?<![\\p{L}\\p{N}'’])(?!\\p{L}*[Qq]u['’])\\p{L}{2,}['’](?:an?|at|i[fnst]|o[nr])(?![\\p{L}\\p{N}'’])",
  // max_pool_gates
  "(?<![\\p{L}\\p{N}][_-])[\\p{L}\\p{N}]+(?:[_-][\\p{L}\\p{N}]+){2,5}(?![_-]?[\\p{L}\\p{N}])",
];
const JOINED = new RegExp(KINDS.join("|"), "uy");
/** `t-shirt` and `re-use` begin with letters that contractions leave. */
const FUNCTION_WORD_FIRST =
  /(?<![\p{L}\p{N}][_-])(?:all|by|down|how|i|in|no|off|on|out|over|re|t|to|under|up)-\p{L}{2,}(?![_-]?[\p{L}\p{N}])/iuy;
const SIGNS = /[^\p{L}\p{N}]+|^0[xX](?=.{4})/gu;

/** Catalan writes a point in a double letter, which others leave out. */
const GEMINATE = "l·l";

/** A piece of text without such points, if it has any. */
export function geminatedIn(piece: string): string | undefined {
  return piece.includes(GEMINATE) ? piece.replaceAll("·", "") : undefined;
}

/** The joined spelling that starts at a position. */
export function joinedAt(text: string, start: number): Joined | undefined {
  const found = matchAt(JOINED, text, start) ?? matchAt(FUNCTION_WORD_FIRST, text, start);
  if (found === undefined) return undefined;
  return { text: found.replace(SIGNS, ""), start, end: start + found.length };
}

function matchAt(pattern: RegExp, text: string, start: number): string | undefined {
  pattern.lastIndex = start;
  return pattern.exec(text)?.[0];
}

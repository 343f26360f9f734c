/**
 * A light English stemmer. It only groups the forms of a word: terms with the same stem are weaker
 * matches than the word itself. Words of other languages stay as they are or lose a plural `s`,
 * which is harmless.
 */
export function stem(word: string): string {
  if (word.length < 4 || !ASCII_WORD.test(word)) return word;
  // Twice, because suffixes stack: rendering, renderer and render have one stem.
  const base = stripSuffix(stripSuffix(stripPlural(word)));
  if (base.length > 3 && base.endsWith("e")) return base.slice(0, -1);
  return base.length > 3 && base.endsWith("y") ? `${base.slice(0, -1)}i` : base;
}

function stripSuffix(word: string): string {
  for (const [suffix, replacement, minimum] of SUFFIXES) {
    if (word.endsWith(suffix) && word.length - suffix.length >= minimum) {
      return undouble(word.slice(0, -suffix.length) + replacement);
    }
  }
  return word;
}

const ASCII_WORD = /^[a-z]+$/;

/** Suffix, replacement, and how many letters must remain before the suffix. The first match wins. */
const SUFFIXES: ReadonlyArray<readonly [string, string, number]> = [
  ["ization", "iz", 3],
  ["isation", "iz", 3],
  ["ational", "", 4],
  ["fulness", "ful", 3],
  ["ically", "ic", 3],
  ["ation", "", 4],
  ["ating", "", 4],
  ["ation", "at", 3],
  ["ition", "it", 3],
  ["ising", "iz", 3],
  ["ised", "iz", 3],
  ["iser", "iz", 3],
  ["ated", "", 4],
  ["ator", "", 4],
  ["ator", "at", 3],
  ["ment", "", 4],
  ["ness", "", 4],
  ["able", "", 4],
  ["ible", "", 4],
  ["ally", "al", 3],
  ["ings", "", 3],
  ["ing", "", 3],
  ["ate", "", 4],
  ["ion", "", 4],
  ["ise", "iz", 3],
  ["ies", "i", 2],
  ["ied", "i", 2],
  ["ed", "", 3],
  ["er", "", 4],
  ["or", "", 4],
  ["ly", "", 3],
];

function stripPlural(word: string): string {
  if (!word.endsWith("s") || word.endsWith("ss") || word.endsWith("us") || word.endsWith("is")) {
    return word;
  }
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:sse|xe|che|she|zze)s$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

/** Removes the second of two consonants before -ed or -ing: stopped, stop. */
function undouble(base: string): string {
  const last = base.at(-1) ?? "";
  const doubled = base.length > 3 && last === base.at(-2) && !"aeiouls".includes(last);
  return doubled ? base.slice(0, -1) : base;
}

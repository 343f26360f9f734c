/**
 * A light English stemmer: it only has to bring the forms of a word together, since words with the
 * same stem count as a weaker match than the word itself. Words of other languages are left alone
 * or lose a plural `s`, which does no harm.
 */
export function stem(word: string): string {
  if (word.length < 4 || !ASCII_WORD.test(word)) return word;
  // Twice, since endings pile up: rendering, renderer and render all come down to one stem.
  const base = withoutSuffix(withoutSuffix(plural(word)));
  if (base.length > 3 && base.endsWith("e")) return base.slice(0, -1);
  return base.length > 3 && base.endsWith("y") ? `${base.slice(0, -1)}i` : base;
}

function withoutSuffix(word: string): string {
  for (const [suffix, replacement, minimum] of SUFFIXES) {
    if (word.endsWith(suffix) && word.length - suffix.length >= minimum) {
      return undouble(word.slice(0, -suffix.length) + replacement);
    }
  }
  return word;
}

const ASCII_WORD = /^[a-z]+$/;

/** Suffix, what takes its place, and how many letters must be left before it; first match wins. */
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

function plural(word: string): string {
  if (!word.endsWith("s") || word.endsWith("ss") || word.endsWith("us") || word.endsWith("is")) {
    return word;
  }
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:sse|xe|che|she|zze)s$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

/** Takes back a consonant doubled before -ed or -ing: stopped, stop. */
function undouble(base: string): string {
  const last = base.at(-1) ?? "";
  const doubled = base.length > 3 && last === base.at(-2) && !"aeiouls".includes(last);
  return doubled ? base.slice(0, -1) : base;
}

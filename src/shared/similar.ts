import { distance } from "fastest-levenshtein";

/** Letters of a word per letter that may be mistyped in it. */
const LETTERS_PER_TYPO = 3;

/** The candidate that the word was most likely meant to be, or undefined. */
export function similarTo(word: string, candidates: Iterable<string>): string | undefined {
  let nearest: { readonly candidate: string; readonly typos: number } | undefined;
  for (const candidate of candidates) {
    const typos = distance(word.toLowerCase(), candidate.toLowerCase());
    const allowed = Math.max(word.length, candidate.length) / LETTERS_PER_TYPO;
    if (typos <= allowed && typos < (nearest?.typos ?? Infinity)) nearest = { candidate, typos };
  }
  return nearest?.candidate;
}

import { distance } from "fastest-levenshtein";

/** Letters of a word per accepted typo. */
const LETTERS_PER_TYPO = 3;

/** The candidate with the fewest typos from the word; undefined if all have too many. */
export function similarTo(word: string, candidates: Iterable<string>): string | undefined {
  let nearest: { readonly candidate: string; readonly typos: number } | undefined;
  for (const candidate of candidates) {
    const typos = distance(word.toLowerCase(), candidate.toLowerCase());
    const allowed = Math.max(word.length, candidate.length) / LETTERS_PER_TYPO;
    if (typos <= allowed && typos < (nearest?.typos ?? Infinity)) nearest = { candidate, typos };
  }
  return nearest?.candidate;
}

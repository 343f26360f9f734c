import { type FoldedCharacter, fold } from "./folding.ts";

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });

/** The characters of a text as readers see them: grapheme clusters. */
export function* charactersOf(text: string): Generator<string, void, void> {
  for (const { segment } of segmenter.segment(text)) yield segment;
}

export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of charactersOf(text)) count++;
  return count;
}

/** More than the characters of all texts in one script that combines letters. */
const KNOWN_MAX = 16_384;
const known = new Map<string, FoldedCharacter>();

/** The folded character, from a cache. */
export function foldedCharacter(character: string): FoldedCharacter {
  let folded = known.get(character);
  if (folded === undefined) {
    if (known.size >= KNOWN_MAX) known.clear();
    folded = fold(character);
    known.set(character, folded);
  }
  return folded;
}

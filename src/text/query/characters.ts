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

import type { Tokens } from "./tokens.ts";

/** Maximum sum of the squared lengths of a batch's texts, in tokens: 4 texts of 512 tokens, or 64 of 128. */
const BATCH_SQUARE_TOKENS = 1_048_576;
/** Maximum number of texts in a batch. */
const BATCH_TEXTS = 64;
/** Minimum tokens of a batch's shortest text, as a share of the longest. Padding takes as much time as tokens. */
const BATCH_FILLED_MIN = 0.8;

/** The places of texts in a request, in batches of about the same length, the shortest first. */
export function batchesOf(texts: readonly Tokens[]): number[][] {
  const lengthOf = (place: number) => (texts[place] as Tokens).ids.length;
  const places = [...texts.keys()].sort((a, b) => lengthOf(a) - lengthOf(b));
  const batches: number[][] = [];
  for (const place of places) {
    const last = batches.at(-1);
    // All texts of a batch are padded to the length of the last, which is the longest.
    const fits =
      last !== undefined &&
      last.length < BATCH_TEXTS &&
      lengthOf(last[0] as number) >= BATCH_FILLED_MIN * lengthOf(place) &&
      (last.length + 1) * lengthOf(place) ** 2 <= BATCH_SQUARE_TOKENS;
    if (fits) last.push(place);
    else batches.push([place]);
  }
  return batches;
}

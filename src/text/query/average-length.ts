import { nextDocument } from "../segment/document-set.ts";
import type { View } from "./types.ts";

/** A view never changes, so its average is computed once. */
const averages = new WeakMap<View, number>();

/** Mean length of the documents of a view, in tokens of content; at least 1. */
export function averageLength(view: View): number {
  const known = averages.get(view);
  if (known !== undefined) return known;
  let count = 0;
  let tokens = 0;
  view.segments.forEach((segment, s) => {
    const set = view.documentSets[s] ?? null;
    const end = segment.documentCount;
    for (let d = nextDocument(set, 0, end); d < end; d = nextDocument(set, d + 1, end)) {
      count++;
      tokens += segment.lengths[d] as number;
    }
  });
  const average = count === 0 ? 1 : Math.max(1, tokens / count);
  averages.set(view, average);
  return average;
}

import { stem } from "../analysis/stem.ts";

/**
 * Links terms with the same stem in circles: following the links from any of them visits all and
 * comes back. A term without relatives links to itself.
 */
export function sameStemCircles(terms: readonly string[]): Uint32Array {
  const next = new Uint32Array(terms.length);
  const first = new Map<string, number>();
  terms.forEach((term, i) => {
    const root = stem(term);
    const head = first.get(root);
    if (head === undefined) {
      first.set(root, i);
      next[i] = i;
    } else {
      next[i] = next[head] as number;
      next[head] = i;
    }
  });
  return next;
}

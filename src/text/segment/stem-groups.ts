import { stem } from "../analysis/stem.ts";

/**
 * Groups terms by stem as circular linked lists: the links from any term visit its whole group and
 * return to it. A term alone in its group links to itself.
 */
export function linkStemGroups(terms: readonly string[]): Uint32Array {
  const next = new Uint32Array(terms.length);
  const first = new Map<string, number>();
  for (let i = 0; i < terms.length; i++) {
    const root = stem(terms[i] as string);
    const head = first.get(root);
    if (head === undefined) {
      first.set(root, i);
      next[i] = i;
    } else {
      next[i] = next[head] as number;
      next[head] = i;
    }
  }
  return next;
}

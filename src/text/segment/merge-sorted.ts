/** Merges sorted lists into one. Of equal elements, those of an earlier list come first. */
export function mergeSorted<T>(
  lists: readonly (readonly T[])[],
  compare: (a: T, b: T) => number,
): readonly T[] {
  if (lists.length <= 1) return lists[0] ?? [];
  const middle = lists.length >>> 1;
  const first = mergeSorted(lists.slice(0, middle), compare);
  const second = mergeSorted(lists.slice(middle), compare);
  const merged: T[] = [];
  let i = 0;
  let j = 0;
  while (i < first.length && j < second.length) {
    const takesFirst = compare(first[i] as T, second[j] as T) <= 0;
    merged.push((takesFirst ? first[i++] : second[j++]) as T);
  }
  return [...merged, ...first.slice(i), ...second.slice(j)];
}

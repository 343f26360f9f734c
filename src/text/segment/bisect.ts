/** The lowest number that meets a monotonic condition; `count` when none below it does. */
export function bisect(count: number, meets: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (meets(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

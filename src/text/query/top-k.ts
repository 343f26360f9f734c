/** A matching document, as positions in a view. */
export interface Match {
  segment: number;
  document: number;
  score: number;
}

/** Negative if the first match ranks before the second; 0 only for the same match. */
export type MatchOrder = (a: Match, b: Match) => number;

/**
 * Collects the best `capacity` of many matches. It is a heap with the worst kept match on top, so
 * one comparison rejects most offers.
 */
export class TopK {
  readonly #capacity: number;
  readonly #order: MatchOrder;
  readonly #heap: Match[] = [];
  /** Matches with a lower score need not be offered. */
  least = Number.NEGATIVE_INFINITY;

  constructor(capacity: number, order: MatchOrder) {
    this.#capacity = capacity;
    this.#order = order;
  }

  offer(segment: number, document: number, score: number): void {
    const heap = this.#heap;
    if (heap.length < this.#capacity) {
      heap.push({ segment, document, score });
      this.#rise(heap.length - 1);
      this.#updateLeast();
      return;
    }
    const worst = heap[0];
    if (worst === undefined || score < worst.score) return;
    // Within a segment, ties are broken by document number.
    if (score === worst.score && segment === worst.segment && document > worst.document) return;
    const match = { segment, document, score };
    if (this.#order(match, worst) > 0) return;
    heap[0] = match;
    this.#sink();
    this.#updateLeast();
  }

  /** Best first. */
  sorted(): Match[] {
    return this.#heap.sort(this.#order);
  }

  #updateLeast(): void {
    if (this.#heap.length === this.#capacity) this.least = (this.#heap[0] as Match).score;
  }

  #rise(start: number): void {
    const heap = this.#heap;
    let at = start;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (this.#order(heap[parent] as Match, heap[at] as Match) >= 0) return;
      this.#swap(parent, at);
      at = parent;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    let at = 0;
    while (true) {
      let worst = at;
      for (let child = 2 * at + 1; child <= 2 * at + 2 && child < heap.length; child++) {
        if (this.#order(heap[child] as Match, heap[worst] as Match) > 0) worst = child;
      }
      if (worst === at) return;
      this.#swap(worst, at);
      at = worst;
    }
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    const first = heap[a] as Match;
    heap[a] = heap[b] as Match;
    heap[b] = first;
  }
}

/**
 * The `k`-th largest of the numbers `values[at]` for the first `count` of `places`; there must be at
 * least `k`. A heap with the smallest of the largest on top rejects most numbers at once.
 */
export function kthLargest(
  values: Float32Array,
  places: Uint32Array,
  count: number,
  k: number,
): number {
  const heap = new Float32Array(k);
  for (let i = 0; i < k; i++) heap[i] = values[places[i] as number] as number;
  heap.sort();
  for (let i = k; i < count; i++) {
    const value = values[places[i] as number] as number;
    if (value > (heap[0] as number)) replaceLeast(heap, value);
  }
  return heap[0] as number;
}

/** Replaces the top of a heap. */
function replaceLeast(heap: Float32Array, value: number): void {
  let at = 0;
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number)) child++;
    if ((heap[child] as number) >= value) break;
    heap[at] = heap[child] as number;
    at = child;
  }
  heap[at] = value;
}

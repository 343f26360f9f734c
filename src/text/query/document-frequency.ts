import { TERM_FREQUENCIES_CACHED } from "../../shared/limits.ts";
import { countDocuments, hasDocument } from "../segment/document-set.ts";
import { POSTING_DOCUMENT_SHIFT } from "../segment/format.ts";
import type { SegmentReader } from "../segment/reader.ts";
import type { View } from "./types.ts";

/** Fewer postings are counted faster than a count is looked up. */
const CACHED_MIN_POSTINGS = 64;

/** How many documents in scope hold the terms of one segment. */
class TermFrequencies {
  readonly #counts = new Map<number, number>();
  /** The number of documents in scope. */
  readonly documents: number;

  constructor(
    private readonly segment: SegmentReader,
    private readonly set: Uint32Array | null,
  ) {
    this.documents = countDocuments(set, segment.documentCount);
  }

  of(term: number): number {
    const { postingStart } = this.segment;
    const length = (postingStart[term + 1] as number) - (postingStart[term] as number);
    if (this.documents === this.segment.documentCount) return length;
    if (length < CACHED_MIN_POSTINGS) return this.#count(this.segment.postingsOf(term));
    const known = this.#counts.get(term);
    if (known !== undefined) return known;
    if (this.#counts.size >= TERM_FREQUENCIES_CACHED) this.#counts.clear();
    const count = this.#count(this.segment.postingsOf(term));
    this.#counts.set(term, count);
    return count;
  }

  #count(postings: Uint32Array): number {
    let count = 0;
    for (let i = 0; i < postings.length; i++) {
      if (hasDocument(this.set, (postings[i] as number) >>> POSTING_DOCUMENT_SHIFT)) count++;
    }
    return count;
  }
}

/** A view never changes, so what is counted in it is kept. */
const known = new WeakMap<View, TermFrequencies[]>();

/** The document frequencies of the terms in each segment of a view. */
export function termFrequencies(view: View): readonly TermFrequencies[] {
  let frequencies = known.get(view);
  if (frequencies === undefined) {
    frequencies = view.segments.map(
      (segment, s) => new TermFrequencies(segment, view.documentSets[s] ?? null),
    );
    known.set(view, frequencies);
  }
  return frequencies;
}

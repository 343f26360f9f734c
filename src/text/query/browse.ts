import { bisect } from "../segment/bisect.ts";
import { nextDocument } from "../segment/document-set.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { inShard, type Shard } from "../segment/shard.ts";
import type { BrowseQuery, DocumentAddress, View } from "./types.ts";

/**
 * A page of the documents of a view and shard in byte order of path. The start is found by
 * bisection, so the cost of a page does not depend on its position.
 */
export function browse(view: View, query: BrowseQuery): DocumentAddress[] {
  const after = query.after === undefined ? null : Buffer.from(query.after);
  const heads = view.segments.map((segment, s) => {
    const start = after === null ? 0 : firstAfter(segment, after);
    return new DocumentIterator(segment, s, view, query, start);
  });
  const page: DocumentAddress[] = [];
  while (page.length < query.limit) {
    let least: DocumentIterator | null = null;
    for (const head of heads) {
      if (head.atEnd()) continue;
      if (least === null || Buffer.compare(head.path(), least.path()) < 0) least = head;
    }
    if (least === null) break;
    page.push({ segment: least.index, document: least.document });
    least.advance();
  }
  return page;
}

/** How many documents of the view are in the shard. */
export function countInShard(view: View, shard: Shard): number {
  let count = 0;
  view.segments.forEach((segment, s) => {
    const set = view.documentSets[s] ?? null;
    const end = segment.documentCount;
    for (let d = nextDocument(set, 0, end); d < end; d = nextDocument(set, d + 1, end)) {
      if (inShard(segment.pathHash(d), shard)) count++;
    }
  });
  return count;
}

/** Iterates over the documents of one segment that are in scope and shard. */
class DocumentIterator {
  readonly index: number;
  document: number;
  readonly #segment: SegmentReader;
  readonly #view: View;
  readonly #shard: Shard;

  constructor(segment: SegmentReader, index: number, view: View, shard: Shard, start: number) {
    this.#segment = segment;
    this.index = index;
    this.#view = view;
    this.#shard = shard;
    this.document = this.#next(start);
  }

  atEnd(): boolean {
    return this.document >= this.#segment.documentCount;
  }

  path(): Uint8Array {
    return this.#segment.pathBytes(this.document);
  }

  advance(): void {
    this.document = this.#next(this.document + 1);
  }

  #next(from: number): number {
    const set = this.#view.documentSets[this.index] ?? null;
    const end = this.#segment.documentCount;
    let document = nextDocument(set, from, end);
    while (document < end && !inShard(this.#segment.pathHash(document), this.#shard)) {
      document = nextDocument(set, document + 1, end);
    }
    return document;
  }
}

/** The first document whose path sorts after the given one. */
function firstAfter(segment: SegmentReader, path: Uint8Array): number {
  return bisect(
    segment.documentCount,
    (document) => Buffer.compare(segment.pathBytes(document), path) > 0,
  );
}

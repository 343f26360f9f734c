import { nextDocument } from "../segment/document-set.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { inShard, type Shard } from "../segment/shard.ts";
import type { BrowseQuery, DocumentAddress, View } from "./types.ts";

/**
 * A page of the documents of a view and shard in byte order of path. The start is found by
 * bisection, so a page costs the same wherever it is.
 */
export function browse(view: View, request: BrowseQuery): DocumentAddress[] {
  const after = request.after === undefined ? null : Buffer.from(request.after);
  const heads = view.segments.map((segment, s) => {
    const start = after === null ? 0 : firstBehind(segment, after);
    return new Cursor(segment, s, view, request, start);
  });
  const page: DocumentAddress[] = [];
  while (page.length < request.limit) {
    let least: Cursor | null = null;
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

/** How many documents of the view the shard holds. */
export function countInShard(view: View, shard: Shard): number {
  let count = 0;
  view.segments.forEach((segment, s) => {
    const scope = view.documentSets[s] ?? null;
    const end = segment.documentCount;
    for (let d = nextDocument(scope, 0, end); d < end; d = nextDocument(scope, d + 1, end)) {
      if (inShard(segment.pathHashes[d] as number, shard)) count++;
    }
  });
  return count;
}

/** Walks the documents of one segment that are in scope and shard. */
class Cursor {
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
    const scope = this.#view.documentSets[this.index] ?? null;
    const end = this.#segment.documentCount;
    let document = nextDocument(scope, from, end);
    while (document < end && !inShard(this.#segment.pathHashes[document] as number, this.#shard)) {
      document = nextDocument(scope, document + 1, end);
    }
    return document;
  }
}

/** The first document whose path is behind the given one. */
function firstBehind(segment: SegmentReader, path: Uint8Array): number {
  let low = 0;
  let high = segment.documentCount;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Buffer.compare(segment.pathBytes(middle), path) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

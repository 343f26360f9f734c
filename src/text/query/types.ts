import type { DocumentSet } from "../segment/document-set.ts";
import type { SegmentReader } from "../segment/reader.ts";
import type { Shard } from "../segment/shard.ts";

/** An environment or release at one instant: segments and, for each, the documents in scope. */
export interface View {
  segments: readonly SegmentReader[];
  /**
   * Same length and order as `segments`. Over all segments of a view, the sets hold at most one
   * document per path.
   */
  documentSets: readonly DocumentSet[];
}

export interface TextQuery extends Shard {
  query: string;
  /** The number of hits; all of them when absent. */
  limit?: number;
  /** Documents that are not returned. They count as matches nevertheless. */
  without?: Exclusion;
  /** Whether hits have snippets. */
  snippets?: boolean;
}

/** A set of documents. */
export interface Exclusion {
  /** An upper bound of the number of documents. */
  size: number;
  has(address: DocumentAddress): boolean;
}

/** Where a document of a view is. */
export interface DocumentAddress {
  /** Index into `view.segments`. */
  segment: number;
  document: number;
}

export interface TextHit extends DocumentAddress {
  /** Comparable within one result only. */
  score: number;
  /** In the order path, title, headings, frontmatter.<key> (file order), content. */
  matchedFields: string[];
  /** Only if the query asked for snippets and the document has text. */
  snippet?: Snippet;
}

/** A passage of a document as plain text. It may contain characters that HTML reserves. */
export interface Snippet {
  text: string;
  /** The words that match, as [start, end) in UTF-16 units of `text`; ascending and disjoint. */
  matches: Array<[start: number, end: number]>;
}

export interface TextResult {
  /** All matches in the shard, regardless of `limit` and `without`. */
  total: number;
  /** Best first; equal scores in byte order of path. The order does not depend on `limit`. */
  hits: TextHit[];
  /** True if more hits follow. */
  more: boolean;
}

/** Asks for a page of all documents in path order. */
export interface BrowseQuery extends Shard {
  /** Only paths after this one, in byte order. */
  after?: string;
  limit: number;
}

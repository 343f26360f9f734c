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
  /** Ranks to skip; 0 when absent. */
  offset?: number;
  /** Ranks to return after `offset`; all of them when absent. */
  limit?: number;
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
}

export interface TextResult {
  /** All matches in the shard, regardless of `offset` and `limit`. */
  total: number;
  /** Best first; equal scores in byte order of path. The order does not depend on `limit`. */
  hits: TextHit[];
}

/** Asks for a page of all documents in path order. */
export interface BrowseQuery extends Shard {
  /** Only paths after this one, in byte order. */
  after?: string;
  limit: number;
}

/**
 * The shapes of the text search core. Everything here is plain data, so that a worker, an importer
 * and a test can share it; nothing in this folder does I/O or keeps state between calls.
 */

/** One frontmatter entry: nested values are compact JSON, scalars are plain text. */
export interface FrontmatterEntry {
  key: string;
  value: string;
}

/** One knowledge item, i.e. one version of one Markdown file, ready to be indexed. */
export interface KnowledgeDocument {
  /** Names this file version; unique within a segment. Opaque here, a UUID in the service. */
  id: string;
  /** Path of the file in its project; decides order and shard. */
  path: string;
  title: string;
  headings: string[];
  /** In file order. */
  frontmatter: FrontmatterEntry[];
  /** The body without frontmatter and without heading lines. */
  content: string;
}

/**
 * The documents of a segment that a search may see: bit d of word d >> 5. `null` means all of
 * them. A scope holds at most one document a path over all segments of a view.
 */
export type Scope = Uint32Array | null;

export interface Shard {
  /** 0-based, below `shardCount`. */
  shardIndex: number;
  shardCount: number;
}

export interface SearchRequest extends Shard {
  query: string;
  /** Ranks to skip; 0 when absent. */
  offset?: number;
  /** Ranks to return after `offset`; all of them when absent. */
  limit?: number;
}

/** Where a document of a view is found. */
export interface DocumentAddress {
  /** Index into `view.segments`. */
  segment: number;
  document: number;
}

export interface SearchHit extends DocumentAddress {
  /** Comparable within one result only. */
  score: number;
  /** In the order path, title, headings, frontmatter.<key> (file order), content. */
  matchedFields: string[];
}

export interface SearchResult {
  /** Matches in the shard, whatever `offset` and `limit` are. */
  total: number;
  /** Best first; equal scores in byte order of path. The order does not depend on `limit`. */
  hits: SearchHit[];
}

/** A page of all documents in path order. */
export interface BrowseRequest extends Shard {
  /** Only paths behind this one, in byte order. */
  after?: string;
  limit: number;
}

import type { SharedView } from "../src/text/index.ts";

/**
 * What the main thread and the search workers say to each other. A task is a batch of searches, so
 * that one hand-off pays for several requests under load. Bodies are transferred, not copied.
 */

/** A JSON body as it came, or a vector that was checked already. */
export interface SearchRequest {
  /** The project's name in the native registry. */
  readonly project: string;
  readonly scopeId: string;
  /** The request's path, for `page_info.self`. */
  readonly selfPath: string;
  readonly body: ArrayBuffer;
  /** Present when `body` holds the little-endian float32 values of a checked vector. */
  readonly vector?: VectorOptions;
}

export interface VectorOptions {
  readonly dimension: number;
  readonly limit: number;
  readonly threshold: number;
}

/** Why there is no response body. The request's own body comes back for another attempt. */
export interface Unanswered {
  readonly reason: "unusual" | "not-resident";
  readonly body: ArrayBuffer;
}

/** A search that failed in a way that no request should be able to cause. */
export interface Failed {
  readonly reason: "failed";
  readonly message: string;
}

/** The complete response body in JSON, or why there is none. */
export type SearchReply = Uint8Array<ArrayBuffer> | Unanswered | Failed;

export interface SearchTask {
  readonly requests: readonly SearchRequest[];
}

/** One reply a request, in their order. */
export interface SearchResult {
  readonly replies: readonly SearchReply[];
  /** What each search took, in milliseconds. */
  readonly took: readonly number[];
}

/** A page of knowledge: ranked by a query, or all items in path order. */
export interface LookupTask {
  readonly view: SharedView;
  readonly shardIndex: number;
  readonly shardCount: number;
  readonly limit: number;
  /** Null browses. */
  readonly query: string | null;
  /** Search: hashes of the paths that earlier pages returned. */
  readonly returned: readonly string[];
  /** Browse: only paths behind this one, in byte order. */
  readonly after: string | null;
}

export interface LookupItem {
  readonly path: string;
  readonly matchedFields: readonly string[];
  readonly frontmatter: ReadonlyArray<{ key: string; value: string }>;
}

export interface LookupResult {
  readonly items: readonly LookupItem[];
  /** Hashes of the items' paths, in their order; what `returned` is made of. */
  readonly hashes: readonly string[];
  /** Matches in the shard. */
  readonly total: number;
  /** Items in the shard. */
  readonly shardItems: number;
  /** True when a page follows. */
  readonly more: boolean;
}

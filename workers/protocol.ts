/**
 * What the main thread and the search workers say to each other. A task is a batch of searches, so
 * that one hand-off pays for several requests under load. Bodies are transferred, not copied.
 */

/** A JSON body as it came, or a vector that was checked already. */
export interface SearchRequest {
  readonly projectId: string;
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

/**
 * What the main thread and the search workers say to each other. A task is a batch of searches, so
 * that one hand-off pays for several requests under load.
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

/** The response body, or one of the native module's constants UNUSUAL and NOT_RESIDENT. */
export type SearchReply = Uint8Array<ArrayBuffer> | 1 | 2;

export interface SearchTask {
  readonly requests: readonly SearchRequest[];
}

/** One entry a request, in their order; a string tells what failed in the search itself. */
export interface SearchResult {
  readonly replies: readonly (SearchReply | string)[];
}

import type { Plan } from "../native/index.ts";
import type { LookupPage, LookupQuery, SharedView } from "../src/engine/text/index.ts";

/**
 * The messages between the main thread and the search workers. A task is a batch of searches, so
 * that several requests share the cost of one hand-off under load. Bodies are transferred, not
 * copied.
 */

/** A search by a JSON body as it was received, or by a vector that was already checked. */
export interface SearchRequest {
  /** The project's name in the native registry. */
  readonly project: string;
  readonly scopeId: string;
  /** The request's path, for `page_info.self`. */
  readonly selfPath: string;
  readonly body: ArrayBuffer;
  /** Present when `body` holds the little-endian float32 values of a checked vector. */
  readonly vector?: VectorOptions;
  /** True to compare every chunk in full precision. */
  readonly exact?: boolean;
}

export interface VectorOptions {
  readonly dimension: number;
  readonly limit: number;
  readonly threshold: number;
}

/**
 * There is no response body: the JSON body has to be parsed and checked by the caller, or the
 * project or scope is not in memory. The request's own body comes back for another attempt.
 */
interface Unanswered {
  readonly reason: "needs-full-parse" | "not-loaded";
  readonly body: ArrayBuffer;
}

/** A search or lookup failed with an error that no request should be able to cause. */
interface Failed {
  readonly reason: "failed";
  readonly message: string;
}

/** The complete response body in JSON, and how it was made. Times are in milliseconds. */
export interface SearchFound {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly plan: Plan;
  /** Names of members of the body that the search ignored, as a header shows them; "" for none. */
  readonly ignored: string;
  /** How long the search waited for a worker; 0 where it ran at once. */
  readonly waitMs: number;
  readonly parseMs: number;
  readonly searchMs: number;
  readonly renderMs: number;
  /** The part of `searchMs` that ranked candidates by better codes and full vectors. */
  readonly rescoreMs: number;
  /** Distinct vectors of the scope. */
  readonly scopeVectors: number;
  /** How many of them were compared by their codes, and how many in full precision. */
  readonly estimates: number;
  readonly comparisons: number;
  /** True when `total_matches` counts all matches, false when there may be more. */
  readonly countsAll: boolean;
}

/** The answer, or why there is none. */
export type SearchReply = SearchFound | Unanswered | Failed;

export interface SearchTask {
  readonly requests: readonly SearchRequest[];
}

/** One reply per request, in the same order. */
export interface SearchResult {
  readonly replies: readonly SearchReply[];
  /** The duration of each search in milliseconds. */
  readonly took: readonly number[];
}

/** Asks for one page of a lookup in a view. */
export interface LookupTask extends LookupQuery {
  readonly view: SharedView;
}

export interface LookupResult extends LookupPage {
  /** How long the lookup took, in milliseconds. */
  readonly took: number;
}

/** The page, or why there is none. */
export type LookupReply = LookupResult | Failed;

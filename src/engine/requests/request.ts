import type { Plan, SearchFaults } from "../../../native/index.ts";
import type { OwnedBytes } from "../../../native/owned-bytes.ts";
import type { Excluded, Given } from "../../../native/retrieval.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Shard, SharedView } from "../../index/segments/index.ts";

/**
 * The requests of searches, lookups and retrievals to the engine, and its replies. The operations make a
 * request, the engine adds the data that it reads, and the same object goes to a worker.
 */

export interface VectorOptions {
  readonly dimension: number;
  readonly limit: number;
  readonly threshold: number;
}

/** Members of every request. */
interface AskedScope {
  readonly scope: Scope;
  /** The request's path, for `page_info.self`. */
  readonly selfPath: string;
}

/** Members of a request for one page. */
interface AskedPage extends AskedScope {
  readonly limit: number;
  /** The hits of earlier pages: `progress` of the last of them, or "". */
  readonly progress: string;
  /** The cursor of a next page, for `page_info.next`. */
  readonly next: string;
}

/** A search by a JSON body as it was received, or by a vector that was already checked. */
export interface SearchRequest extends AskedScope {
  readonly kind: "search";
  /**
   * A JSON body in UTF-8, whose filter the scope stands for; or with `vector`, the little-endian float32 values of a
   * checked vector. The engine takes it: it is empty afterwards, and comes back for another attempt where it is
   * not loaded.
   */
  body: OwnedBytes;
  readonly vector?: VectorOptions;
  /** True to compare every chunk of the scope in full precision. */
  readonly exact: boolean;
  /** The project's name in the native registry, which the engine adds: each load has another. */
  project?: string;
}

/** A lookup of one page: ranked by a query, or all items in path order. */
export interface LookupRequest extends Shard, AskedPage {
  readonly kind: "lookup";
  /** Null browses. */
  readonly query: string | null;
  /** The documents of the scope, which the engine adds: a change replaces the view. */
  view?: SharedView;
}

/** By vector, by text, or by both. The positions are the numbers of the modes in native code. */
export const RETRIEVAL_MODES = ["semantic", "keyword", "hybrid"] as const;
export type RetrievalMode = (typeof RETRIEVAL_MODES)[number];

/**
 * One page of the best chunks by vector, by text or by both. The caller has checked everything: `semantic`
 * has a vector, `keyword` a query, `hybrid` both.
 *
 * The reply's body has the form of a search's. A hit is `chunk`, `score`, `match_type` and `scores`; `file`
 * (`id`, `path`, `version_id`) where `chunk` is null; and `highlight`, `title` and `heading` with a query. A group is
 * `file` (`id`, `path`, `title`), `score` and `hits`. By field, `facets` have `values` (`value`, `count`), `total` and
 * `exact`.
 * In `total_matches` there may be more than counted, unless `countsAll`.
 */
export interface RetrieveRequest extends AskedPage {
  readonly kind: "retrieve";
  readonly mode: RetrievalMode;
  /** Without white space around it. In `semantic` it is only highlighted. */
  readonly query: string | null;
  /** Finite numbers, not all of them zero, in one of `DIMENSIONS`. */
  readonly vector: Float32Array | null;
  /** The least cosine of a hit that the text did not find; the caller chooses the default of the mode. */
  readonly threshold: number;
  /** Maximum hits of a group, which are those of one file; 0 without groups. `limit` counts groups. */
  readonly groupSize: number;
  /** Minimum difference between a hit and those before it: 0 to 1. */
  readonly diversity: number;
  readonly excluded: Excluded;
  /** The fields whose values are counted over the files of all pages, as filters name them; null without facets. */
  readonly facets: readonly string[] | null;
  /**
   * The members that the engine adds: as in a search and a lookup, the project whose fields are counted, and the chunks
   * that the engine pgvector has read.
   */
  project?: string;
  fields?: string;
  view?: SharedView;
  given?: Given;
}

/** Requests that are answered from the memory of this process. */
export type EngineRequest = SearchRequest | LookupRequest | RetrieveRequest;

/** Times are in milliseconds. */
interface Work {
  /** Wait for a worker; 0 for a request that ran immediately. */
  waitMs: number;
  /** Run time. */
  readonly tookMs: number;
}

/** How a search was carried out. */
export interface SearchWork extends Work {
  readonly plan: Plan;
  /** Names of the first members of the body that the search ignored; null without any. */
  readonly ignored: readonly string[] | null;
  readonly parseMs: number;
  readonly searchMs: number;
  readonly renderMs: number;
  /** The part of `searchMs` that ranked candidates by better codes and full vectors. */
  readonly rescoreMs: number;
  /** Distinct vectors of the scope. */
  readonly scopeVectors: number;
  /** Vectors compared by their codes (`estimates`), and in full precision (`comparisons`). */
  readonly estimates: number;
  readonly comparisons: number;
  /** True when `total_matches` counts all matches, false when there may be more. */
  readonly countsAll: boolean;
}

interface PageWork extends Work {
  /** True when another page follows. */
  readonly more: boolean;
  /** The state that the next page continues from; "" without a next page. */
  readonly progress: string;
}

/** How a lookup was carried out. */
export interface LookupWork extends PageWork {
  /** Matches in the shard. */
  readonly total: number;
  /** Items in the shard. */
  readonly shardItems: number;
}

/** How a retrieval was carried out. */
interface RetrieveWork extends PageWork {
  /** True when the page is short because the engine has given too few hits. */
  readonly lacksHits: boolean;
  /** The score of the first hit; 0 without any. */
  readonly best: number;
  /** Hits of all pages; there may be more, unless `countsAll`. */
  readonly total: number;
  readonly countsAll: boolean;
}

interface WorkOf {
  readonly search: SearchWork;
  readonly lookup: LookupWork;
  readonly retrieve: RetrieveWork;
}

/**
 * The complete response body in JSON with the work that made it. Without a body, the status is the reason: the JSON body
 * is not a search, the project or scope is not in memory, or an error occurred that no request should be able to cause.
 */
export type Reply<Kind extends keyof WorkOf = keyof WorkOf> =
  | {
      readonly status: "answered";
      readonly json: OwnedBytes;
      readonly work: WorkOf[Kind];
    }
  | { readonly status: "invalid"; readonly faults: SearchFaults }
  | { readonly status: "not-loaded"; readonly body: OwnedBytes }
  /** A page shows chunks of these file versions, and the engine holds chunks elsewhere. */
  | { readonly status: "missing-chunks"; readonly versionIds: readonly string[] }
  /** Counting the facets took too long. */
  | { readonly status: "late" }
  | { readonly status: "failed"; readonly message: string };

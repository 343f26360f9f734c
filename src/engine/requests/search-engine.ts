import type { SearchFound, VectorOptions } from "../../../workers/protocol.ts";
import type { Gatekeeper } from "../../http/door.ts";
import type { Scope } from "./scope.ts";

export interface SearchQuery {
  /** Who searches: tenants share the workers fairly. */
  readonly tenant: string;
  readonly scope: Scope;
  /** The request's path, for `page_info.self`. */
  readonly selfPath: string;
  /** A JSON body; or with `vector`, the little-endian float32 values of a checked vector. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly vector?: VectorOptions;
  /** True to compare every chunk of the scope in full precision. */
  readonly exact: boolean;
}

/**
 * A complete JSON response body and how it was made; or the request's JSON body, when it is not in the simple form that
 * the engine parses itself. The caller then parses and checks it, and searches by its vector.
 */
export type SearchAnswer =
  | ({ readonly kind: "found" } & SearchFound)
  | { readonly kind: "needs-full-parse"; readonly body: Uint8Array<ArrayBuffer> };

export interface EngineState {
  /** Why searches may not see all changes yet, in one sentence; null when they do. */
  readonly behind: string | null;
  /** Changes that are not searchable yet. */
  readonly lag: number;
  /** Projects in memory. */
  readonly projects: number;
  readonly vectors: number;
  /** Vectors that are not in a graph yet and will be. */
  readonly backlog: number;
  readonly bytes: number;
  /** True when all changes are indexed, and all graphs are built and calibrated. */
  readonly complete: boolean;
  /** Searches that wait for a thread. */
  readonly queued: number;
  /** Scopes that requests wait for, because their projects are being loaded or will be. */
  readonly pendingLoads: number;
  /** The recall of recent live searches, 0 to 1; null before one was measured. */
  readonly recall: number | null;
}

/**
 * Holds the vectors, follows the changes of the database, and searches. The routes depend on this
 * interface only, so that an engine could span several machines.
 */
export interface SearchEngine {
  /** Tells which searches would be refused now. */
  readonly gate: Gatekeeper;
  /**
   * Admits one more request of a tenant, until `release` is called. Throws `overloaded` when the
   * tenant has its share of the requests that may be under way.
   */
  admit(tenant: string): void;
  release(tenant: string): void;
  /** Answers a query of an admitted request. Throws problems. */
  search(query: SearchQuery): SearchAnswer | Promise<SearchAnswer>;
  state(): EngineState;
  close(): Promise<void>;
}

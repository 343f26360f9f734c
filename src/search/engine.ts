import type { VectorOptions } from "../../workers/protocol.ts";
import type { Scope } from "../scopes/scope.ts";

export interface SearchQuery {
  readonly scope: Scope;
  /** The request's path, for `page_info.self`. */
  readonly selfPath: string;
  /** A JSON body; or with `vector`, the little-endian float32 values of a checked vector. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly vector?: VectorOptions;
}

/**
 * The answer: a complete JSON response body. Or the JSON body is not one that the engine reads
 * by itself, and comes back to be parsed, refused, or searched as a vector.
 */
export type SearchAnswer =
  | { readonly kind: "found"; readonly json: Uint8Array<ArrayBuffer> }
  | { readonly kind: "unusual"; readonly body: Uint8Array<ArrayBuffer> };

export interface EngineState {
  /** Why searches may not see all changes yet, in one sentence; null when they do. */
  readonly behind: string | null;
  /** Changes that are not searchable yet. */
  readonly lag: number;
  readonly vectors: number;
  readonly bytes: number;
  /** Searches that wait for a thread. */
  readonly queued: number;
}

/**
 * Whatever holds the vectors, follows the changes of the database and searches. The routes know
 * nothing else, so an engine that spans machines could stand here.
 */
export interface SearchEngine {
  /**
   * Takes a place among the searches under way; `release` gives it back. Throws `overloaded` when
   * there are too many. A place is taken before the body is read, so that waiting bodies are
   * bounded too.
   */
  admit(): void;
  release(): void;
  /** Answers a query that was admitted. Throws problems. */
  search(query: SearchQuery): SearchAnswer | Promise<SearchAnswer>;
  state(): EngineState;
  close(): Promise<void>;
}

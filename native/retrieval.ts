/** Retrieval of chunks by vector and text, in one call. */
import { addon } from "./addon.ts";
import type { FoundPage, Page } from "./text.ts";

/** Rendered chunks, each followed by its vector, or null without a vector of the query's dimension. */
type GivenChunks = ReadonlyArray<string | Float32Array | null>;

/** File versions and hits that the caller has read, because it has no index of chunks or of vectors. */
export interface Given {
  readonly versions: ReadonlyArray<{
    readonly id: string;
    /** Those in the scope, or the text that stands for a version without chunks; empty for a deleted version. */
    readonly chunks: GivenChunks;
  }>;
  /** The hits of a search by vector, best first, and how many chunks reach the threshold. */
  readonly hits: {
    readonly chunks: GivenChunks;
    readonly cosines: Float64Array;
    readonly matches: number;
    /** Whether these are all that reach the threshold. */
    readonly areAll: boolean;
    /** Whether no more chunks reach the threshold than `matches` says. */
    readonly countsAll: boolean;
  } | null;
}

/** Excluded chunks by id and files by path, and the number of chunks in both. */
export interface Excluded {
  readonly chunkIds: readonly string[];
  readonly paths: readonly string[];
  readonly chunks: number;
}

interface Retrieval {
  /**
   * Retrieves one page. Null when the scope is not loaded, or its fields are not shared. `missing` names the file
   * versions of the page that a caller without an index of chunks must provide. `countsAll` says that `total` counts all
   * hits, and `lacksHits` that the page is short because the caller provided too few hits. `best` is the score of the
   * first hit, 0 without any. `isLate` says that counting the facets took too long.
   */
  retrieve(
    request: Page & {
      /** Null without an index of chunks. */
      readonly project: string | null;
      readonly scope: string;
      /** 0 by vector, 1 by text, 2 by both. */
      readonly mode: number;
      readonly vector: Float32Array | null;
      readonly threshold: number;
      /** Maximum number of hits per group, the hits of one file; 0 without groups. */
      readonly groupSize: number;
      /** How much hits must differ from earlier ones: 0 to 1. */
      readonly diversity: number;
      readonly excluded: Excluded;
      /** The fields whose values are counted over the files of all pages, as filters name them; null without facets. */
      readonly facets: readonly string[] | null;
      /** The project whose fields are shared, and the time that counting may take; of no use without facets. */
      readonly fields: string | null;
      readonly facetsMaxMs: number;
      readonly given: Given | null;
    },
  ):
    | (FoundPage & {
        readonly countsAll: boolean;
        readonly lacksHits: boolean;
        readonly best: number;
      })
    | { readonly missing: string[] }
    | { readonly isLate: true }
    | null;
}

export const { retrieve } = addon as Retrieval;

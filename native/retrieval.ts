/** Retrieval of chunks by vector and text, in one call. */
import { addon } from "./addon.ts";
import type { FoundPage, Page, QueryWords, Tokenizer } from "./text.ts";

/** Rendered chunks, each followed by its vector, which is null if it has none of the query's dimension. */
type GivenChunks = ReadonlyArray<string | Float32Array | null>;

/** What the caller has read, because it is not in the memory of the index. */
export interface Given {
  readonly versions: ReadonlyArray<{
    readonly id: string;
    /** The file in JSON. */
    readonly file: string;
    readonly chunks: GivenChunks;
    /**
     * For how many milliseconds it is known to have no chunks, so that native code keeps its file; 0 if it has some,
     * infinite if it never has any.
     */
    readonly bareMs: number;
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

/** What an answer leaves out: chunks, files by their paths, and how many chunks they are together. */
export interface Excluded {
  readonly chunkIds: readonly string[];
  readonly paths: readonly string[];
  readonly chunks: number;
}

interface Retrieval {
  /**
   * Retrieves one page. Null when the scope is not loaded; `unread` names the file versions that the page shows and
   * that have to be given. `countsAll` says that there are no more hits than counted, and `lacksHits` that the page
   * is short because too few hits were given. `matched` has the ids of the versions that match, separated by commas, if
   * they are listed, and `hasAllMatched` says that there are no others.
   */
  retrieve(
    request: QueryWords &
      Page & {
        /** Null without an index of vectors. */
        readonly project: string | null;
        readonly scope: string;
        /** 0 by vector, 1 by text, 2 by both. */
        readonly mode: number;
        readonly vector: Float32Array | null;
        readonly threshold: number;
        /** The most hits of a group, which are those of one file; 0 without groups. */
        readonly groupSize: number;
        /** How much hits have to differ from those before: 0 to 1. */
        readonly diversity: number;
        readonly excluded: Excluded;
        /** Whether the versions of all matching files are listed. */
        readonly listsMatches: boolean;
        readonly given: Given | null;
      },
    tokenizer: Tokenizer,
  ):
    | (FoundPage & {
        readonly countsAll: boolean;
        readonly lacksHits: boolean;
        readonly matched: string | null;
        readonly hasAllMatched: boolean;
      })
    | { readonly unread: string[] }
    | null;
}

export const { retrieve } = addon as Retrieval;

/** Retrieval of chunks by vector and text, in one call. */
import { addon } from "./addon.ts";

/** What `retrieve` returns instead of a response when the scope is not loaded, or chunks have to be read. */
export const RETRIEVAL_NOT_LOADED = 2;
export const RETRIEVAL_UNREAD = 3;

/** Rendered chunks, each followed by its vector, which is null if it has none of the query's dimension. */
type GivenChunks = ReadonlyArray<string | Float32Array | null>;

/** What the caller has read, because it is not in the memory of the index. */
export interface Given {
  readonly versions: ReadonlyArray<{
    readonly id: string;
    /** The file in JSON. */
    readonly file: string;
    readonly chunks: GivenChunks;
  }>;
  /** The hits of a search by vector, best first, and how many chunks reach the threshold. */
  readonly hits: {
    readonly chunks: GivenChunks;
    readonly cosines: Float64Array;
    readonly matches: number;
  } | null;
}

/** All hits as far as is known, and 1 if another page follows. The caller passes the array. */
type RetrievalReport = Float64Array<ArrayBuffer>;
export const RETRIEVAL_REPORT_LENGTH = 2;

interface Retrieval {
  /**
   * Retrieves one page and renders the whole response body. Words and tokenizer are those of `lookUpText`.
   * @param query null without one
   * @param project null without an index of vectors
   * @param mode 0 by vector, 1 by text, 2 by both
   * @param progress "", or `retrievalProgress` of the page before
   * @param next the cursor of the next page in case there is one
   */
  retrieve(
    view: number,
    query: string | null,
    words: string,
    numbers: Uint32Array,
    project: string | null,
    scope: string,
    mode: number,
    vector: Float32Array | null,
    limit: number,
    threshold: number,
    progress: string,
    selfPath: string,
    next: string,
    given: Given | null,
    kinds: Uint8Array,
    folded: Uint16Array,
    tokensOf: (text: string) => Array<number | string>,
    report: RetrievalReport,
  ): Uint8Array<ArrayBuffer> | typeof RETRIEVAL_NOT_LOADED | typeof RETRIEVAL_UNREAD;
  /** What the page after the last `retrieve` of this thread has to know; "" when there is none. */
  retrievalProgress(): string;
  /** The file versions that the last `retrieve` of this thread shows and that have to be given to it. */
  unreadVersions(): string[];
}

export const { retrieve, retrievalProgress, unreadVersions } = addon as Retrieval;

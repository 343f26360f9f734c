/**
 * Lookups in text segments: planning, ranking, snippets and the response body. A segment is memory that
 * threads share; a view of segments belongs to the thread that opens it.
 *
 * Every function throws a TypeError on arguments of a wrong shape before it touches any memory.
 */
import { addon } from "./addon.ts";

/**
 * What a lookup found: all matches in the shard, all documents in it, and 1 if another page follows. The
 * caller passes the array.
 */
type LookupReport = Float64Array<ArrayBuffer>;
export const LOOKUP_REPORT_LENGTH = 3;

/** The functions of the addon for texts. */
interface Text {
  /**
   * Opens a view for the lookups of the calling thread: verified text segments and, for each, the
   * documents in scope (bit d & 31 of word d >> 5; null for all of them). The caller keeps the memory
   * of both until it closes the view.
   */
  openTextView(
    view: number,
    segments: readonly Uint8Array[],
    documents: readonly (Uint32Array | null)[],
  ): void;
  closeTextView(view: number): void;
  /**
   * Looks up one page of an open view and renders the whole response body.
   * @param query as the response repeats it; null lists all documents by path
   * @param words the distinct words of the query as tokens, one after another
   * @param numbers per word its length, how often it is in the query, and the sum of 1 if longer words
   *   match as well, 2 if it may be misspelt, 4 for a function word, 8 for an identifier in mixed case
   * @param progress "", or `lookupProgress` of the page before
   * @param next the cursor of the next page in case there is one
   * @param kinds how each UTF-16 code unit that has occurred becomes part of a token, and in `folded`
   *   what it is folded to; see `UnitKind` in native/src/text/segment/tokenizer.hpp
   * @param tokensOf the tokens of a text that has other code units: start, end and token of each
   */
  lookUpText(
    view: number,
    query: string | null,
    words: string,
    numbers: Uint32Array,
    limit: number,
    shardIndex: number,
    shardCount: number,
    progress: string,
    selfPath: string,
    next: string,
    kinds: Uint8Array,
    folded: Uint16Array,
    tokensOf: (text: string) => Array<number | string>,
    report: LookupReport,
  ): Uint8Array<ArrayBuffer>;
  /** What the page after the last `lookUpText` of this thread has to know; "" when there is none. */
  lookupProgress(): string;
  /** The stem of an English word (Snowball); other words are their own stems. */
  stem(word: string): string;
  /**
   * Groups sorted terms by stem, as circular lists: the next term of the same stem for each. Term t has
   * the code units from `termStart[t]` up to `termStart[t + 1]`.
   */
  stemGroups(termStart: Uint32Array, termChars: Uint16Array): Uint32Array<ArrayBuffer>;
}

export const { openTextView, closeTextView, lookUpText, lookupProgress, stem, stemGroups } =
  addon as Text;

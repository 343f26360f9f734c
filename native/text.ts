/**
 * Lookups in text segments: planning, ranking, snippets and the response body. A segment is memory that
 * threads share; a view of segments belongs to the thread that opens it.
 *
 * Every function throws a TypeError on arguments of a wrong shape before it touches any memory.
 */
import { addon } from "./addon.ts";
import type { OwnedBytes } from "./owned-bytes.ts";

/** A request for a page of an open view. */
export interface Page {
  readonly view: number;
  /** As the response repeats it; null lists all documents by path, or searches by vector alone. */
  readonly query: string | null;
  /** Cuts a query in scripts without spaces; see the function of this name. */
  readonly wordBreaks: (text: string) => Uint32Array;
  readonly limit: number;
  /** The `progress` of the page before; "" for the first page. */
  readonly progress: string;
  readonly selfPath: string;
  /** The cursor of a next page. */
  readonly next: string;
}

/** The result of a page. */
export interface FoundPage {
  /** The whole response body. */
  readonly json: OwnedBytes;
  /** The known number of matches. */
  readonly total: number;
  /** True when another page follows. */
  readonly more: boolean;
  /** The state for the next page; "" on the last page. */
  readonly progress: string;
}

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
  /** Looks up one page of a shard of a view. `shardItems` is the number of documents in the shard. */
  lookUpText(
    request: Page & { readonly shardIndex: number; readonly shardCount: number },
  ): FoundPage & { readonly shardItems: number };
  /** The codes of the languages that have a stemmer (ISO 639-1). A language is known by its place. */
  readonly stemLanguages: readonly string[];
  /** The stem of a word in lower case by Snowball's algorithm; words of other scripts are their own stems. */
  stem(word: string, language: number): string;
  /** Indexes documents as one segment. */
  buildSegment(documents: readonly KnowledgeDocument[], memory: SegmentMemory): void;
  /**
   * Merges verified segments and, for each, the documents to keep, as sets of `openTextView`. Returns the new number of
   * each document of each segment; -1 for one that was left out.
   */
  mergeSegments(
    segments: readonly Uint8Array[],
    documents: readonly (Uint32Array | null)[],
    memory: SegmentMemory,
  ): Int32Array[];
}

/** Gives memory of zeros for a segment of this size. */
export type SegmentMemory = (bytes: number) => Uint8Array;

/** One knowledge item to index: one version of one Markdown file. */
export interface KnowledgeDocument {
  /** Identifies the file version. Unique within a segment and opaque here; a UUID in the service. */
  readonly id: string;
  /** Path of the file in its project; decides order and shard. */
  readonly path: string;
  readonly title: string;
  readonly headings: string[];
  /** In file order. */
  readonly frontmatter: { key: string; value: string }[];
  /** The text of the body that a reader sees, without its headings. */
  readonly content: string;
}

export const {
  openTextView,
  closeTextView,
  lookUpText,
  stem,
  stemLanguages,
  buildSegment,
  mergeSegments,
} = addon as Text;

/** The language of texts whose language is unknown, or does not have a stemmer. */
export const ENGLISH = stemLanguages.indexOf("en");

import { TEXT_MERGE_WHEN_BUSY, TEXT_MERGE_WHEN_IDLE } from "../../domain/limits.ts";
import {
  emptyDocumentSet,
  hasDocument,
  type MergedSegment,
  SegmentReader,
  type SegmentScope,
} from "../segments/index.ts";
import {
  type NumberSet,
  numbersIn,
  removeNumber,
  setOf,
  withNumber,
} from "../versions/number-set.ts";
import type { Members } from "../versions/version-index.ts";
import { FORGOTTEN, renumbered, type VersionTable } from "../versions/version-table.ts";
import { beginMerge, mergedNumbers, mergedScope, type TextMerge } from "./text-merge.ts";
import { segmentsOfLikeSize } from "./text-merge-policy.ts";
import { documentsOf, forgottenOf, type ScopeDocuments, type TextSegment } from "./text-segment.ts";

/**
 * When segments are merged: `count` of similar size, each at most `ratio` times as large as all smaller ones together.
 * New segments are merged once while documents are added. Further merges are rare while documents arrive and thorough
 * when idle.
 */
const TEXT_MERGE_WHEN_ADDING = { count: 10, ratio: 1 } as const;
const TEXT_MERGE_IDLE_MS = 1_500;
/** A larger segment was merged before, or of one long document. */
const TEXT_MERGE_FRESH_BYTES = 4_194_304;

/** The changes of a finished merge. */
export interface Merged {
  /** The new segment; null when no document was left. */
  readonly added: TextSegment | null;
  readonly removed: readonly string[];
  /** The scopes that held documents of the removed segments. */
  readonly scopeIds: readonly string[];
}

/** The text of one project: segments, the file versions in them, and the scopes over them. */
export class TextProject {
  readonly segments = new Map<string, TextSegment>();
  readonly scopes = new Map<string, ScopeDocuments>();
  /** The versions that are in segments, and those without text. */
  #versions: NumberSet = emptyDocumentSet(0);
  /** The keys of segments that are being merged. */
  readonly #merging = new Set<string>();
  /** When documents were last added. */
  #grownAt = Number.NEGATIVE_INFINITY;

  constructor(readonly table: VersionTable) {}

  get versions(): NumberSet {
    return this.#versions;
  }

  /** Versions that have no document. */
  versionsWithoutText(): string[] {
    const without = this.#versions.slice();
    for (const { numbers } of this.segments.values()) {
      for (const number of numbers) removeNumber(without, number);
    }
    return [...numbersIn(without)].map((number) => this.table.idOf(number));
  }

  addWithoutText(versionIds: readonly string[]): void {
    for (const id of versionIds) this.#numberOf(id);
  }

  /** True if a version need not be read. */
  has(versionId: string): boolean {
    const number = this.table.numberOf(versionId);
    if (number === undefined) return true;
    return [number, this.table.earlierNumberOf(number)].some((n) => hasDocument(this.#versions, n));
  }

  /** The number of a version that is being added; FORGOTTEN if it is there or the table does not have it. */
  #numberOf(versionId: string): number {
    const number = this.table.numberOf(versionId);
    if (number === undefined || this.has(versionId)) return FORGOTTEN;
    this.#versions = withNumber(this.#versions, number);
    return number;
  }

  /** Adds a segment of new documents. */
  grow(key: string, segment: SegmentReader): void {
    this.#grownAt = performance.now();
    this.addSegment(key, segment);
  }

  /** Allows the merge of all segments, because no documents follow for now. */
  stopGrowing(): void {
    this.#grownAt = Number.NEGATIVE_INFINITY;
  }

  addSegment(key: string, segment: SegmentReader): void {
    const numbers = new Uint32Array(segment.documentCount);
    for (let document = 0; document < numbers.length; document++) {
      numbers[document] = this.#numberOf(segment.id(document));
    }
    this.segments.set(key, { key, segment, numbers, forgotten: forgottenOf(numbers) });
  }

  /** Replaces the contents of a scope. */
  setScope(scopeId: string, { numbers }: Members): void {
    const versions = setOf(numbers, this.table.count);
    const scope = new Map<string, Uint32Array>();
    for (const segment of this.segments.values()) {
      const documents = documentsOf(segment, versions);
      if (documents !== undefined) scope.set(segment.key, documents);
    }
    this.scopes.set(scopeId, scope);
  }

  /** False for an unknown scope. */
  dropScope(scopeId: string): boolean {
    return this.scopes.delete(scopeId);
  }

  /** Gives the versions new numbers. The documents of those that are forgotten are left out of the next merge. */
  renumber(newNumber: (number: number) => number): void {
    this.#versions = renumbered(this.#versions, newNumber);
    for (const part of this.segments.values()) {
      for (const [document, number] of part.numbers.entries()) {
        if (number !== FORGOTTEN) part.numbers[document] = newNumber(number);
      }
      part.forgotten = forgottenOf(part.numbers);
    }
  }

  /** The scope in the form that is published to the main thread. */
  members(scopeId: string): SegmentScope[] {
    const scope = this.scopes.get(scopeId) ?? new Map();
    return [...scope].map(([key, documents]) => ({ key, documents }));
  }

  /**
   * The next merge that is due; null when none is. `finishMerge` or `abandonMerge` ends it.
   *
   * @param whileAdding only of small segments that keep all documents
   */
  beginMerge(whileAdding = false): TextMerge | null {
    const parts = this.#mergeable(whileAdding);
    if (parts.length === 0) return null;
    for (const { key } of parts) this.#merging.add(key);
    return beginMerge(parts);
  }

  /** Lets the segments of a merge without a result be merged again. */
  abandonMerge({ parts }: TextMerge): void {
    for (const { key } of parts) this.#merging.delete(key);
  }

  /** Replaces the parts of a merge by the result. */
  finishMerge(merge: TextMerge, { buffer, numbers: documents }: MergedSegment): Merged {
    this.abandonMerge(merge);
    const key = crypto.randomUUID();
    const segment = new SegmentReader(buffer);
    const numbers = mergedNumbers(merge, documents, segment.documentCount);
    const added: TextSegment = { key, segment, numbers, forgotten: forgottenOf(numbers) };
    for (const part of merge.parts) this.segments.delete(part.key);
    const isEmpty = segment.documentCount === 0;
    if (!isEmpty) this.segments.set(key, added);
    const scopeIds: string[] = [];
    for (const [scopeId, scope] of this.scopes) {
      if (!merge.parts.some((part) => scope.has(part.key))) continue;
      this.scopes.set(scopeId, mergedScope(scope, merge, documents, added));
      scopeIds.push(scopeId);
    }
    return {
      added: isEmpty ? null : added,
      removed: merge.parts.map((part) => part.key),
      scopeIds,
    };
  }

  /** Segments that should be merged now; empty when no merge is due. */
  #mergeable(whileAdding: boolean): TextSegment[] {
    const all = [...this.segments.values()].filter(({ key }) => !this.#merging.has(key));
    const isIdle = performance.now() - this.#grownAt > TEXT_MERGE_IDLE_MS;
    const isFresh = ({ segment, forgotten }: TextSegment) =>
      segment.buffer.byteLength <= TEXT_MERGE_FRESH_BYTES && forgotten === 0;
    if (whileAdding) return segmentsOfLikeSize(all.filter(isFresh), TEXT_MERGE_WHEN_ADDING);
    const wasteful = all.find(({ numbers, forgotten }) => forgotten * 2 > numbers.length);
    if (wasteful !== undefined) return [wasteful];
    if (isIdle) return segmentsOfLikeSize(all, TEXT_MERGE_WHEN_IDLE);
    // The others are merged while documents are added.
    return segmentsOfLikeSize(
      all.filter((entry) => !isFresh(entry)),
      TEXT_MERGE_WHEN_BUSY,
    );
  }
}

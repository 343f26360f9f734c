import { TEXT_MERGE_WHEN_BUSY, TEXT_MERGE_WHEN_IDLE } from "../../shared/limits.ts";
import {
  addDocument,
  countDocuments,
  emptyDocumentSet,
  type MergedSegment,
  openSegment,
  type SegmentReader,
  type SegmentScope,
} from "../../text/index.ts";
import { type Members, UnknownVersion } from "../versions/version-index.ts";
import { beginMerge, carryDeleted, isOutdated, mergedScope, type TextMerge } from "./text-merge.ts";
import { segmentsOfLikeSize } from "./text-merge-policy.ts";
import {
  type Address,
  documentBits,
  type ScopeDocuments,
  sharedDocumentSet,
  type TextSegment,
} from "./text-segment.ts";

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
  /** Parts of scopes, whose documents those scopes hold. */
  readonly #derived = new Map<string, ScopeDocuments>();
  /** The document of each known version; null for versions without text. */
  readonly #versions = new Map<string, Address | null>();
  /** The same by the version numbers of the fields index, filled on request. */
  readonly #numbered: (Address | null | undefined)[] = [];
  #numbering = -1;
  /** The keys of segments that are being merged. */
  readonly #merging = new Set<string>();
  /** When documents were last added. */
  #grownAt = Number.NEGATIVE_INFINITY;

  knows(versionId: string): boolean {
    return this.#versions.has(versionId);
  }

  /** Known versions that have no document. */
  versionsWithoutText(): string[] {
    return [...this.#versions].filter(([, address]) => address === null).map(([id]) => id);
  }

  addWithoutText(versionIds: readonly string[]): void {
    for (const id of versionIds) this.#versions.set(id, null);
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

  /** Adds a segment; the versions of its documents are known from then on. */
  addSegment(
    key: string,
    segment: SegmentReader,
    deleted = emptyDocumentSet(segment.documentCount),
  ): void {
    const entry: TextSegment = { key, segment, deleted, addresses: [] };
    this.segments.set(key, entry);
    for (let document = 0; document < segment.documentCount; document++) {
      const address = { entry, document };
      entry.addresses.push(address);
      this.#versions.set(segment.id(document), address);
    }
  }

  /** Replaces the contents of a scope. Throws UnknownVersion and then changes nothing. */
  setScope(scopeId: string, versionIds: readonly string[], members?: Members): void {
    const scope = new Map<string, Uint32Array>();
    const addresses =
      members === undefined
        ? versionIds.map((id) => this.#versions.get(id))
        : this.#addressesOf(members);
    for (const [{ key, deleted }, documents] of this.#documentsOf(addresses)) {
      for (let w = 0; w < deleted.length; w++) {
        deleted[w] = (deleted[w] as number) & ~(documents[w] as number);
      }
      scope.set(key, documents);
    }
    this.#replaceScope(scopeId, scope);
  }

  /** Replaces a part of a scope that holds all of these versions. */
  derive(scopeId: string, members: Members): void {
    const documents = [...this.#documentsOf(this.#addressesOf(members))];
    this.#derived.set(scopeId, new Map(documents.map(([{ key }, set]) => [key, set])));
  }

  /** The addresses of versions. Those that are known by their number need not be found by their id. */
  #addressesOf({ versions, numbers }: Members): (Address | null | undefined)[] {
    if (this.#numbering !== versions.numbering) this.#numbered.length = 0;
    this.#numbering = versions.numbering;
    const addresses = new Array<Address | null | undefined>(numbers.length);
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number;
      let address = this.#numbered[number];
      if (address === undefined) {
        address = this.#versions.get(versions.idOf(number));
        this.#numbered[number] = address;
      }
      addresses[i] = address;
    }
    return addresses;
  }

  /** False for an unknown scope. */
  dropDerived(scopeId: string): boolean {
    return this.#derived.delete(scopeId);
  }

  /** The documents by segment. Throws UnknownVersion. */
  #documentsOf(addresses: readonly (Address | null | undefined)[]): Map<TextSegment, Uint32Array> {
    const members = new Map<TextSegment, Uint32Array>();
    let current: TextSegment | undefined;
    let documents: Uint32Array = new Uint32Array(0);
    for (const address of addresses) {
      if (address === undefined) throw new UnknownVersion();
      if (address === null) continue;
      const { entry, document } = address;
      if (entry !== current) {
        current = entry;
        documents = members.get(entry) ?? sharedDocumentSet(entry.segment.documentCount);
        members.set(entry, documents);
      }
      addDocument(documents, document);
    }
    return members;
  }

  dropScope(scopeId: string): void {
    this.#replaceScope(scopeId, undefined);
  }

  /** The scope in the form that is published to the main thread. */
  members(scopeId: string): SegmentScope[] {
    const scope = this.scopes.get(scopeId) ?? this.#derived.get(scopeId) ?? new Map();
    return [...scope].map(([key, documents]) => ({ key, documents }));
  }

  restoreScope(scopeId: string, scope: ScopeDocuments): void {
    this.scopes.set(scopeId, scope);
  }

  /**
   * The next merge that is due; null when none is. `finishMerge` or `abandonMerge` ends it.
   *
   * @param whileAdding only of small segments that keep all documents, so that no version becomes unknown
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

  /**
   * Replaces the parts of a merge by the result. Null, and nothing changes, when the result lacks a
   * document that is in a scope again. The versions of other documents that were left out become
   * unknown.
   */
  finishMerge(merge: TextMerge, { buffer, numbers }: MergedSegment): Merged | null {
    this.abandonMerge(merge);
    if (isOutdated(merge)) return null;
    const key = crypto.randomUUID();
    const segment = openSegment(buffer, false);
    const deleted = emptyDocumentSet(segment.documentCount);
    const added: TextSegment = { key, segment, deleted, addresses: [] };
    for (const [i, part] of merge.parts.entries()) {
      this.segments.delete(part.key);
      this.#move(part, numbers[i] as Int32Array, added);
    }
    const isEmpty = segment.documentCount === 0;
    if (!isEmpty) this.segments.set(key, added);
    const scopeIds: string[] = [];
    for (const scopes of [this.scopes, this.#derived]) {
      for (const [scopeId, scope] of scopes) {
        if (!merge.parts.some((part) => scope.has(part.key))) continue;
        scopes.set(scopeId, mergedScope(scope, merge, numbers, added));
        scopeIds.push(scopeId);
      }
    }
    carryDeleted(merge, numbers, added);
    return {
      added: isEmpty ? null : added,
      removed: merge.parts.map((part) => part.key),
      scopeIds,
    };
  }

  /** Moves the versions of a part to the merged segment. */
  #move({ segment, addresses }: TextSegment, numbers: Int32Array, to: TextSegment): void {
    for (const [document, address] of addresses.entries()) {
      const number = numbers[document] as number;
      if (number < 0) {
        this.#versions.delete(segment.id(document));
        this.#numbered.length = 0;
        continue;
      }
      address.entry = to;
      address.document = number;
      to.addresses[number] = address;
    }
  }

  /** Segments that should be merged now; empty when no merge is due. */
  #mergeable(whileAdding: boolean): TextSegment[] {
    const all = [...this.segments.values()].filter(({ key }) => !this.#merging.has(key));
    const isIdle = performance.now() - this.#grownAt > TEXT_MERGE_IDLE_MS;
    const isFresh = ({ segment, deleted }: TextSegment) =>
      segment.buffer.byteLength <= TEXT_MERGE_FRESH_BYTES && deleted.every((word) => word === 0);
    if (whileAdding) return segmentsOfLikeSize(all.filter(isFresh), TEXT_MERGE_WHEN_ADDING);
    const wasteful = all.find(({ segment, deleted }) => {
      const count = segment.documentCount;
      return count > 0 && countDocuments(deleted, count) * 2 > count;
    });
    if (wasteful !== undefined) return [wasteful];
    if (isIdle) return segmentsOfLikeSize(all, TEXT_MERGE_WHEN_IDLE);
    // The others are merged while documents are added.
    return segmentsOfLikeSize(
      all.filter((entry) => !isFresh(entry)),
      TEXT_MERGE_WHEN_BUSY,
    );
  }

  /** Replaces or removes a scope, and deletes the documents that no scope holds afterwards. */
  #replaceScope(scopeId: string, scope: ScopeDocuments | undefined): void {
    const before = this.scopes.get(scopeId) ?? new Map<string, Uint32Array>();
    if (scope === undefined) this.scopes.delete(scopeId);
    else this.scopes.set(scopeId, scope);
    for (const [key, documents] of before) {
      const entry = this.segments.get(key);
      if (entry !== undefined) this.#deleteUnheld(entry, documents.slice());
    }
  }

  /** Deletes those of the candidates that no scope holds. Overwrites `candidates`. */
  #deleteUnheld({ key, segment, deleted }: TextSegment, candidates: Uint32Array): void {
    for (const scope of this.scopes.values()) {
      const held = scope.get(key);
      if (held === undefined) continue;
      for (let w = 0; w < held.length; w++) {
        candidates[w] = (candidates[w] as number) & ~(held[w] as number);
      }
    }
    for (let w = 0; w < deleted.length; w++) {
      deleted[w] = ((deleted[w] as number) | (candidates[w] as number)) & documentBits(segment, w);
    }
  }
}

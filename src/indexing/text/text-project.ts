import {
  TEXT_MERGE_IDLE_MS,
  TEXT_MERGE_WHEN_BUSY,
  TEXT_MERGE_WHEN_IDLE,
} from "../../shared/limits.ts";
import {
  addDocument,
  countDocuments,
  emptyDocumentSet,
  openSegment,
  type SegmentReader,
  type SegmentScope,
} from "../../text/index.ts";
import { UnknownVersion } from "../versions/version-index.ts";
import {
  beginMerge,
  carryDeleted,
  isOutdated,
  mergedScope,
  type Renumbering,
  type TextMerge,
} from "./text-merge.ts";
import { segmentsOfLikeSize } from "./text-merge-policy.ts";
import {
  documentBits,
  type ScopeDocuments,
  sharedDocumentSet,
  type TextSegment,
} from "./text-segment.ts";

interface Address {
  readonly entry: TextSegment;
  readonly document: number;
}

/** What a finished merge has changed. */
interface Merged {
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
  /** The document of each known version; null for versions without text. */
  readonly #versions = new Map<string, Address | null>();
  /** When documents were last added. */
  #grownAt = Number.NEGATIVE_INFINITY;
  #merge: TextMerge | null = null;

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

  /** Adds a segment; the versions of its documents are known from then on. */
  addSegment(
    key: string,
    segment: SegmentReader,
    deleted = emptyDocumentSet(segment.documentCount),
  ): void {
    const entry = { key, segment, deleted };
    this.segments.set(key, entry);
    for (let document = 0; document < segment.documentCount; document++) {
      this.#versions.set(segment.id(document), { entry, document });
    }
  }

  /** Replaces the contents of a scope. Throws UnknownVersion and then changes nothing. */
  setScope(scopeId: string, versionIds: readonly string[]): void {
    const members = new Map<TextSegment, Uint32Array>();
    for (const id of versionIds) {
      const address = this.#versions.get(id);
      if (address === undefined) throw new UnknownVersion();
      if (address === null) continue;
      const { entry, document } = address;
      let documents = members.get(entry);
      if (documents === undefined) {
        documents = sharedDocumentSet(entry.segment.documentCount);
        members.set(entry, documents);
      }
      addDocument(documents, document);
    }
    const scope = new Map<string, Uint32Array>();
    for (const [{ key, deleted }, documents] of members) {
      for (let w = 0; w < deleted.length; w++) {
        deleted[w] = (deleted[w] as number) & ~(documents[w] as number);
      }
      scope.set(key, documents);
    }
    this.#replaceScope(scopeId, scope);
  }

  dropScope(scopeId: string): void {
    this.#replaceScope(scopeId, undefined);
  }

  /** The scope in the form that is published to the main thread. */
  members(scopeId: string): SegmentScope[] {
    const scope = this.scopes.get(scopeId) ?? new Map<string, Uint32Array>();
    return [...scope].map(([key, documents]) => ({ key, documents }));
  }

  restoreScope(scopeId: string, scope: ScopeDocuments): void {
    this.scopes.set(scopeId, scope);
  }

  /** Segments that should be merged now; empty when no merge is due. */
  mergeable(): TextSegment[] {
    const all = [...this.segments.values()];
    const wasteful = all.find(({ segment, deleted }) => {
      const count = segment.documentCount;
      return count > 0 && countDocuments(deleted, count) * 2 > count;
    });
    if (wasteful !== undefined) return [wasteful];
    const isIdle = performance.now() - this.#grownAt > TEXT_MERGE_IDLE_MS;
    return segmentsOfLikeSize(all, isIdle ? TEXT_MERGE_WHEN_IDLE : TEXT_MERGE_WHEN_BUSY);
  }

  /**
   * Works on a merge for about `budgetMs`, if one is due. Returns what a finished merge has
   * changed; until then nothing changes. Deleted documents are left out, and their versions become
   * unknown again.
   */
  maintain(budgetMs: number): Merged | null {
    const deadline = performance.now() + budgetMs;
    this.#merge ??= this.#beginMerge();
    const merge = this.#merge;
    while (merge !== null && performance.now() < deadline) {
      const step = merge.steps.next();
      if (!step.done) continue;
      this.#merge = null;
      return this.#finishMerge(merge, step.value);
    }
    return null;
  }

  /** True while a merge is due or under way. */
  get needsMaintenance(): boolean {
    return this.#merge !== null || this.mergeable().length > 0;
  }

  #beginMerge(): TextMerge | null {
    const parts = this.mergeable();
    return parts.length === 0 ? null : beginMerge(parts);
  }

  #finishMerge(merge: TextMerge, buffer: SharedArrayBuffer | null): Merged | null {
    if (isOutdated(merge)) return null;
    const { parts } = merge;
    const ids = parts.map(({ segment }) =>
      Array.from({ length: segment.documentCount }, (_, document) => segment.id(document)),
    );
    for (const id of ids.flat()) this.#versions.delete(id);
    for (const part of parts) this.segments.delete(part.key);
    const added = buffer === null ? null : this.#addMerged(buffer);
    const numbers: Renumbering = ids.map((own) =>
      own.map((id) => this.#versions.get(id)?.document ?? -1),
    );
    const scopeIds: string[] = [];
    for (const [scopeId, scope] of this.scopes) {
      if (!parts.some((part) => scope.has(part.key))) continue;
      this.scopes.set(scopeId, mergedScope(scope, merge, numbers, added));
      scopeIds.push(scopeId);
    }
    if (added !== null) carryDeleted(merge, numbers, added);
    return { added, removed: parts.map((part) => part.key), scopeIds };
  }

  #addMerged(buffer: SharedArrayBuffer): TextSegment {
    const key = crypto.randomUUID();
    this.addSegment(key, openSegment(buffer, false));
    return this.segments.get(key) as TextSegment;
  }

  /** Replaces or removes a scope, and deletes the documents that no scope holds any more. */
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

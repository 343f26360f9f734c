import {
  addToScope,
  emptyScope,
  inScope,
  mergeSegments,
  nextInScope,
  type OpenSegment,
  openSegment,
  scopeSize,
} from "../knowledge/text/index.ts";
import type { SegmentScope } from "../knowledge/views.ts";
import { TEXT_MERGE_COUNT, TEXT_MERGE_MAX_DOCUMENTS } from "../limits.ts";

/** A segment and the documents in it that no scope holds any more. */
export interface TextSegment {
  readonly key: string;
  readonly segment: OpenSegment;
  readonly dead: Uint32Array;
}

interface Address {
  readonly key: string;
  readonly document: number;
}

/** Which documents a scope holds, by segment. The words stand in shared memory. */
export type ScopeWords = ReadonlyMap<string, Uint32Array>;

function sharedWords(documentCount: number): Uint32Array {
  const words = emptyScope(documentCount);
  const shared = new Uint32Array(new SharedArrayBuffer(words.byteLength));
  return shared;
}

/** The text of one project: segments, the file versions in them, and the scopes over them. */
export class TextProject {
  readonly segments = new Map<string, TextSegment>();
  readonly scopes = new Map<string, ScopeWords>();
  /** Where a version's document stands; null for versions that are not knowledge. */
  readonly #versions = new Map<string, Address | null>();

  knows(versionId: string): boolean {
    return this.#versions.has(versionId);
  }

  /** Versions that are known and hold no knowledge. */
  plainVersions(): string[] {
    return [...this.#versions].filter(([, address]) => address === null).map(([id]) => id);
  }

  addPlain(versionIds: readonly string[]): void {
    for (const id of versionIds) this.#versions.set(id, null);
  }

  /** Takes a segment in; its documents are known from here on. */
  addSegment(key: string, segment: OpenSegment, dead = emptyScope(segment.documentCount)): void {
    this.segments.set(key, { key, segment, dead });
    for (let document = 0; document < segment.documentCount; document++) {
      this.#versions.set(segment.id(document), { key, document });
    }
  }

  /** Replaces the contents of a scope. All versions are known. */
  setScope(scopeId: string, versionIds: readonly string[]): void {
    const words = new Map<string, Uint32Array>();
    for (const id of versionIds) {
      const address = this.#versions.get(id);
      if (address === undefined) throw new Error("a scope names a file version that was not read");
      if (address === null) continue;
      const { segment, dead } = this.#segment(address.key);
      const scope = words.get(address.key) ?? sharedWords(segment.documentCount);
      words.set(address.key, scope);
      addToScope(scope, address.document);
      const word = address.document >>> 5;
      dead[word] = (dead[word] as number) & ~(1 << (address.document & 31));
    }
    const before = this.scopes.get(scopeId);
    this.scopes.set(scopeId, words);
    if (before !== undefined) this.#bury(before);
  }

  dropScope(scopeId: string): void {
    const before = this.scopes.get(scopeId);
    this.scopes.delete(scopeId);
    if (before !== undefined) this.#bury(before);
  }

  /** The scope as the main thread is told of it. */
  members(scopeId: string): SegmentScope[] {
    const words = this.scopes.get(scopeId) ?? new Map<string, Uint32Array>();
    return [...words].map(([key, documents]) => ({ key, documents }));
  }

  restoreScope(scopeId: string, words: ScopeWords): void {
    this.scopes.set(scopeId, words);
  }

  /** Segments that are worth joining now; empty when all is in order. */
  mergeable(): TextSegment[] {
    const all = [...this.segments.values()];
    const wasted = all.find(({ segment, dead }) => {
      const count = segment.documentCount;
      return count > 0 && scopeSize(dead, count) * 2 > count;
    });
    if (wasted !== undefined) return [wasted];
    // Joining the smallest ones keeps every merge short, and each document is merged few times.
    const small = all
      .filter(({ segment }) => segment.documentCount < TEXT_MERGE_MAX_DOCUMENTS / 2)
      .sort((a, b) => a.segment.documentCount - b.segment.documentCount);
    if (small.length < TEXT_MERGE_COUNT) return [];
    const chosen: TextSegment[] = [];
    let documents = 0;
    for (const candidate of small) {
      documents += candidate.segment.documentCount;
      if (documents > TEXT_MERGE_MAX_DOCUMENTS) break;
      chosen.push(candidate);
    }
    return chosen.length > 1 ? chosen : [];
  }

  /**
   * Joins segments into one without the documents that no scope holds; those become unknown again.
   * Returns the new buffer, or null when nothing was left.
   */
  merge(parts: readonly TextSegment[], key: string): SharedArrayBuffer | null {
    const keeps = parts.map(({ segment, dead }) => ({ segment, keep: complement(segment, dead) }));
    const left = keeps.some(({ segment, keep }) => scopeSize(keep, segment.documentCount) > 0);
    const ids = parts.map(({ segment }) =>
      Array.from({ length: segment.documentCount }, (_, document) => segment.id(document)),
    );
    for (const id of ids.flat()) this.#versions.delete(id);
    for (const part of parts) this.segments.delete(part.key);
    const buffer = left ? mergeSegments(keeps) : null;
    if (buffer !== null) this.addSegment(key, openSegment(buffer, false));
    for (const [scopeId, words] of this.scopes) {
      this.scopes.set(scopeId, this.#moved(words, parts, ids));
    }
    return buffer;
  }

  /** A scope after some segments were replaced by the ones that now hold their documents. */
  #moved(words: ScopeWords, parts: readonly TextSegment[], ids: readonly string[][]): ScopeWords {
    const moved = new Map(words);
    for (const [i, part] of parts.entries()) {
      const before = moved.get(part.key);
      moved.delete(part.key);
      if (before === undefined) continue;
      const end = part.segment.documentCount;
      for (let d = nextInScope(before, 0, end); d < end; d = nextInScope(before, d + 1, end)) {
        const address = this.#versions.get(ids[i]?.[d] as string);
        if (address === undefined || address === null) continue;
        const { segment } = this.#segment(address.key);
        const scope = moved.get(address.key) ?? sharedWords(segment.documentCount);
        moved.set(address.key, scope);
        addToScope(scope, address.document);
      }
    }
    return moved;
  }

  /** Marks what a scope held and no scope holds any more. */
  #bury(before: ScopeWords): void {
    for (const [key, words] of before) {
      const entry = this.segments.get(key);
      if (entry === undefined) continue;
      const end = entry.segment.documentCount;
      for (let d = nextInScope(words, 0, end); d < end; d = nextInScope(words, d + 1, end)) {
        const held = [...this.scopes.values()].some((scope) => {
          const other = scope.get(key);
          return other !== undefined && inScope(other, d);
        });
        if (!held) addToScope(entry.dead, d);
      }
    }
  }

  #segment(key: string): TextSegment {
    const entry = this.segments.get(key);
    if (entry === undefined) throw new Error("a document stands in a segment that is gone");
    return entry;
  }
}

function complement(segment: OpenSegment, dead: Uint32Array): Uint32Array {
  const keep = emptyScope(segment.documentCount);
  for (let document = 0; document < segment.documentCount; document++) {
    if (!inScope(dead, document)) addToScope(keep, document);
  }
  return keep;
}

import {
  TEXT_MERGE_IDLE_MS,
  TEXT_MERGE_WHEN_BUSY,
  TEXT_MERGE_WHEN_IDLE,
} from "../../shared/limits.ts";
import {
  addDocument,
  countDocuments,
  emptyDocumentSet,
  mergeInSteps,
  nextDocument,
  openSegment,
  type SegmentReader,
  type SegmentScope,
} from "../../text/index.ts";
import { UnknownVersion } from "../versions/version-index.ts";
import { alikeSegments } from "./text-merge-policy.ts";

/** A segment and the documents in it that no scope holds any more. */
export interface TextSegment {
  readonly key: string;
  readonly segment: SegmentReader;
  readonly dead: Uint32Array;
}

interface Address {
  readonly entry: TextSegment;
  readonly document: number;
}

/** Which documents a scope holds, by segment. The words stand in shared memory. */
export type ScopeWords = ReadonlyMap<string, Uint32Array>;

function sharedWords(documentCount: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(emptyDocumentSet(documentCount).byteLength));
}

/** What joining some segments has changed. */
export interface Joined {
  /** The new segment; null when no document was left. */
  readonly added: TextSegment | null;
  readonly removed: readonly string[];
  /** The scopes that held documents of the removed segments. */
  readonly scopeIds: readonly string[];
}

/** The text of one project: segments, the file versions in them, and the scopes over them. */
export class TextProject {
  readonly segments = new Map<string, TextSegment>();
  readonly scopes = new Map<string, ScopeWords>();
  /** Where a version's document stands; null for versions that are not knowledge. */
  readonly #versions = new Map<string, Address | null>();
  /** When documents last came in. */
  #grownAt = Number.NEGATIVE_INFINITY;
  #merge: Merge | null = null;

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

  /** Takes a segment of new documents in. */
  grow(key: string, segment: SegmentReader): void {
    this.#grownAt = performance.now();
    this.addSegment(key, segment);
  }

  /** Puts a segment in place; its documents are known from here on. */
  addSegment(
    key: string,
    segment: SegmentReader,
    dead = emptyDocumentSet(segment.documentCount),
  ): void {
    const entry = { key, segment, dead };
    this.segments.set(key, entry);
    for (let document = 0; document < segment.documentCount; document++) {
      this.#versions.set(segment.id(document), { entry, document });
    }
  }

  /** Replaces the contents of a scope. Throws UnknownVersion, and then changes nothing. */
  setScope(scopeId: string, versionIds: readonly string[]): void {
    const members = new Map<TextSegment, Uint32Array>();
    for (const id of versionIds) {
      const address = this.#versions.get(id);
      if (address === undefined) throw new UnknownVersion();
      if (address === null) continue;
      const { entry, document } = address;
      let scope = members.get(entry);
      if (scope === undefined) {
        scope = sharedWords(entry.segment.documentCount);
        members.set(entry, scope);
      }
      addDocument(scope, document);
    }
    const words = new Map<string, Uint32Array>();
    for (const [{ key, dead }, scope] of members) {
      for (let w = 0; w < dead.length; w++) dead[w] = (dead[w] as number) & ~(scope[w] as number);
      words.set(key, scope);
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
      return count > 0 && countDocuments(dead, count) * 2 > count;
    });
    if (wasted !== undefined) return [wasted];
    const isIdle = performance.now() - this.#grownAt > TEXT_MERGE_IDLE_MS;
    return alikeSegments(all, isIdle ? TEXT_MERGE_WHEN_IDLE : TEXT_MERGE_WHEN_BUSY);
  }

  /**
   * Works for about so long on joining segments where that is worth it. Returns what a finished
   * join has changed; until then nothing changes. The documents that no scope held are left out
   * and become unknown again.
   */
  settle(budgetMs: number): Joined | null {
    const until = performance.now() + budgetMs;
    this.#merge ??= this.#beginMerge();
    const merge = this.#merge;
    while (merge !== null && performance.now() < until) {
      const step = merge.steps.next();
      if (!step.done) continue;
      this.#merge = null;
      return this.#finishMerge(merge, step.value);
    }
    return null;
  }

  /** True while there is something to join. */
  get unsettled(): boolean {
    return this.#merge !== null || this.mergeable().length > 0;
  }

  #beginMerge(): Merge | null {
    const parts = this.mergeable();
    if (parts.length === 0) return null;
    const keeps = parts.map(({ segment, dead }) => ({ segment, keep: complement(segment, dead) }));
    const left = keeps.some(({ segment, keep }) => countDocuments(keep, segment.documentCount) > 0);
    return { parts, keeps, steps: left ? mergeInSteps(keeps) : nothing() };
  }

  #finishMerge({ parts, keeps }: Merge, buffer: SharedArrayBuffer | null): Joined | null {
    // A document that was left out may have come back into a scope meanwhile; then it starts over.
    const cameBack = parts.some(({ segment, dead }, i) => {
      const keep = keeps[i]?.keep as Uint32Array;
      return dead.some((word, w) => (~word & ~(keep[w] as number) & bitsOf(segment, w)) !== 0);
    });
    if (cameBack) return null;
    const ids = parts.map(({ segment }) =>
      Array.from({ length: segment.documentCount }, (_, document) => segment.id(document)),
    );
    for (const id of ids.flat()) this.#versions.delete(id);
    for (const part of parts) this.segments.delete(part.key);
    const added = buffer === null ? null : this.#takeMerged(buffer);
    const places = ids.map((own) => own.map((id) => this.#versions.get(id)?.document ?? -1));
    const scopeIds: string[] = [];
    for (const [scopeId, words] of this.scopes) {
      if (!parts.some((part) => words.has(part.key))) continue;
      this.scopes.set(scopeId, moved(words, parts, places, added));
      scopeIds.push(scopeId);
    }
    // What is in no scope yet, because it was only just added, is not dead.
    if (added !== null) carryDead(parts, places, added);
    return { added, removed: parts.map((part) => part.key), scopeIds };
  }

  #takeMerged(buffer: SharedArrayBuffer): TextSegment {
    const key = crypto.randomUUID();
    this.addSegment(key, openSegment(buffer, false));
    return this.segments.get(key) as TextSegment;
  }

  /** Marks what a scope held and no scope holds any more. */
  #bury(before: ScopeWords): void {
    for (const [key, words] of before) {
      const entry = this.segments.get(key);
      if (entry !== undefined) this.#buryUnheld(entry, words.slice());
    }
  }

  /** Marks those candidates as dead that no scope holds; uses the candidates up. */
  #buryUnheld({ key, segment, dead }: TextSegment, candidates: Uint32Array): void {
    for (const scope of this.scopes.values()) {
      const held = scope.get(key);
      if (held === undefined) continue;
      for (let w = 0; w < held.length; w++) {
        candidates[w] = (candidates[w] as number) & ~(held[w] as number);
      }
    }
    for (let w = 0; w < dead.length; w++) {
      dead[w] = ((dead[w] as number) | (candidates[w] as number)) & bitsOf(segment, w);
    }
  }
}

/** A join that is under way. */
interface Merge {
  readonly parts: readonly TextSegment[];
  readonly keeps: ReadonlyArray<{ segment: SegmentReader; keep: Uint32Array }>;
  readonly steps: Generator<void, SharedArrayBuffer | null, void>;
}

/** The merge of segments of which no document is left. */
// biome-ignore lint/correctness/useYield: it takes no step.
function* nothing(): Generator<void, null, void> {
  return null;
}

/** Marks in the new segment what died while it was made. */
function carryDead(
  parts: readonly TextSegment[],
  places: ReadonlyArray<readonly number[]>,
  added: TextSegment,
): void {
  for (const [i, { dead, segment }] of parts.entries()) {
    const end = segment.documentCount;
    for (let d = nextDocument(dead, 0, end); d < end; d = nextDocument(dead, d + 1, end)) {
      const place = places[i]?.[d] as number;
      if (place >= 0) addDocument(added.dead, place);
    }
  }
}

/** A scope after segments were replaced by the one that now holds their documents. */
function moved(
  words: ScopeWords,
  parts: readonly TextSegment[],
  places: ReadonlyArray<readonly number[]>,
  added: TextSegment | null,
): ScopeWords {
  const after = new Map(words);
  for (const part of parts) after.delete(part.key);
  if (added === null) return after;
  const scope = sharedWords(added.segment.documentCount);
  for (const [i, { key, segment }] of parts.entries()) {
    const before = words.get(key);
    if (before === undefined) continue;
    const end = segment.documentCount;
    for (let d = nextDocument(before, 0, end); d < end; d = nextDocument(before, d + 1, end)) {
      addDocument(scope, places[i]?.[d] as number);
    }
  }
  return after.set(added.key, scope);
}

/** The bits of a word that stand for documents; the last word may have others. */
function bitsOf(segment: SegmentReader, word: number): number {
  const rest = segment.documentCount - word * 32;
  return rest >= 32 ? -1 : (1 << rest) - 1;
}

function complement(segment: SegmentReader, dead: Uint32Array): Uint32Array {
  return dead.map((word, w) => ~word & bitsOf(segment, w));
}

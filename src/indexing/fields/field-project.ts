import {
  addFields,
  appendVersion,
  type FieldStore,
  fieldBytes,
  keepVersions,
  openFields,
} from "../../../native/fields.ts";
import { INDEX_UNSCOPED_KEEP_MS } from "../../shared/limits.ts";
import { Numbers } from "../../shared/numbers.ts";
import {
  addDocument,
  countDocuments,
  emptyDocumentSet,
  hasDocument,
  nextDocument,
} from "../../text/index.ts";
import {
  type NumberedVersions,
  type NumberSet,
  UnknownVersion,
} from "../versions/version-index.ts";
import type { VersionFields } from "./version-fields.ts";

/** The id of a version with its entry in a map, and its place in a list. */
const VERSION_BYTES = 128;

/** No two projects share a numbering, because other indexes remember versions by their numbers. */
let lastNumbering = 0;

/**
 * The fields of one project's file versions, which are numbered, and its scopes over them. The chunks of all
 * versions are numbered, too, in the same order. A version without chunks has one such number as well.
 */
export class FieldProject implements NumberedVersions {
  #ids: string[] = [];
  #numbers = new Map<string, number>();
  /** The number of the first chunk of each version, and at the end that of the next version. */
  #chunks = new Numbers(Uint32Array.of(0));
  /** The dimension of each chunk's embedding, or 0 without one. */
  #dimensions = new Numbers();
  #store = openFields();
  /** Versions to add again, which gives them new numbers. */
  readonly #outdated = new Set<string>();
  readonly scopes = new Map<string, NumberSet>();
  #addedAt = 0;
  numbering = ++lastNumbering;

  get count(): number {
    return this.#ids.length;
  }

  /** Memory of the fields. */
  get bytes(): number {
    const lists = this.#chunks.bytes + this.#dimensions.bytes + this.count * VERSION_BYTES;
    return lists + fieldBytes(this.#store);
  }

  /** The values of the fields. It is another one whenever versions get other numbers. */
  get store(): FieldStore {
    return this.#store;
  }

  knows(versionId: string): boolean {
    return this.#numbers.has(versionId) && !this.#outdated.has(versionId);
  }

  /** True if a version is in the set and need not be added again. */
  isIn(set: NumberSet, versionId: string): boolean {
    const number = this.#numbers.get(versionId);
    return number !== undefined && hasDocument(set, number) && !this.#outdated.has(versionId);
  }

  /** Versions to add again. */
  outdated(): string[] {
    return [...this.#outdated];
  }

  /** Until it is added again, the version counts as missing and keeps its fields. */
  readAgain(versionId: string): void {
    if (this.#numbers.has(versionId)) this.#outdated.add(versionId);
  }

  numberOf(versionId: string): number | undefined {
    return this.#numbers.get(versionId);
  }

  idOf(number: number): string {
    return this.#ids[number] as string;
  }

  get firstChunks(): Uint32Array {
    return this.#chunks.values;
  }

  get dimensions(): Uint32Array {
    return this.#dimensions.values;
  }

  firstChunk(number: number): number {
    return this.#chunks.at(number);
  }

  /** The dimensions of a version's chunks. */
  dimensionsOf(number: number): number[] {
    const [first, end] = [this.firstChunk(number), this.firstChunk(number + 1)];
    return [...this.#dimensions.values.subarray(first, end)];
  }

  add({ id, path, frontmatter, dimensions, metadata }: VersionFields): void {
    if (this.knows(id)) return;
    const texts = [JSON.stringify(frontmatter), JSON.stringify(metadata)] as const;
    addFields(this.#store, path, ...texts, chunksOf(dimensions));
    this.#append(id, dimensions);
    this.#addedAt = performance.now();
  }

  /** Adds a version without values, which are restored later. */
  restore(id: string, dimensions: readonly number[]): void {
    appendVersion(this.#store, chunksOf(dimensions));
    this.#append(id, dimensions);
  }

  /** Numbers a version whose values are known, and replaces an earlier entry of it. */
  #append(id: string, dimensions: ArrayLike<number>): void {
    this.#outdated.delete(id);
    this.#numbers.set(id, this.#ids.length);
    this.#ids.push(id);
    for (let i = 0; i < chunksOf(dimensions); i++) this.#dimensions.push(dimensions[i] ?? 0);
    this.#chunks.push(this.#dimensions.length);
  }

  /** The numbers of versions; undefined if one is not known. */
  numbersOf(versionIds: readonly string[]): NumberSet | undefined {
    const set = emptyDocumentSet(this.count);
    for (const id of versionIds) {
      const number = this.#numbers.get(id);
      if (number === undefined) return undefined;
      addDocument(set, number);
    }
    return set;
  }

  /** Replaces the contents of a scope. Throws UnknownVersion and then changes nothing. */
  setScope(scopeId: string, versionIds: readonly string[]): void {
    const scope = this.numbersOf(versionIds);
    if (scope === undefined) throw new UnknownVersion();
    this.scopes.set(scopeId, scope);
  }

  /** Forgets the versions that no scope holds, if they are many and no scope may be on its way. */
  forgetUnheld(): void {
    if (performance.now() - this.#addedAt < INDEX_UNSCOPED_KEEP_MS) return;
    const held = emptyDocumentSet(this.count);
    for (const scope of this.scopes.values()) {
      for (let w = 0; w < scope.length; w++) {
        held[w] = (held[w] as number) | (scope[w] as number);
      }
    }
    const heldCount = countDocuments(held, this.count);
    if (this.count - heldCount > this.count * UNHELD_SHARE_MAX) this.#keep(held);
  }

  /** Keeps these versions only, under other numbers. */
  #keep(held: NumberSet): void {
    const [ids, chunks, dimensions] = [this.#ids, this.#chunks.values, this.#dimensions.values];
    const members = [...this.scopes].map(([scopeId, scope]) => {
      return [scopeId, ids.filter((_, i) => hasDocument(scope, i))] as const;
    });
    const [numbers, outdated] = [this.#numbers, new Set(this.#outdated)];
    this.#ids = [];
    this.#numbers = new Map();
    this.#chunks = new Numbers(Uint32Array.of(0));
    this.#dimensions = new Numbers();
    this.#store = keepVersions(this.#store, held);
    this.numbering = ++lastNumbering;
    for (
      let number = nextDocument(held, 0, ids.length);
      number < ids.length;
      number = nextDocument(held, number + 1, ids.length)
    ) {
      const id = ids[number] as string;
      this.#append(id, dimensions.subarray(chunks[number], chunks[number + 1]));
      if (outdated.has(id) || numbers.get(id) !== number) this.readAgain(id);
    }
    for (const [scopeId, versionIds] of members) this.setScope(scopeId, versionIds);
  }
}

/** The chunks of a version that are numbered. */
const chunksOf = (dimensions: ArrayLike<number>): number => Math.max(1, dimensions.length);

/** Versions that no scope holds are forgotten when they are more than this share. */
const UNHELD_SHARE_MAX = 0.2;

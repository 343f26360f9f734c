import { INDEX_UNSCOPED_KEEP_MS } from "../../domain/limits.ts";
import { Numbers } from "../../domain/numbers.ts";
import { addDocument, countDocuments, emptyDocumentSet, hasDocument } from "../segments/index.ts";
import { type NumberSet, numbersIn, removeNumber, withNumber } from "./number-set.ts";

/** The id of a version with its entry in a map, and its place in a list. */
const VERSION_BYTES = 128;
/** Versions that no scope holds are forgotten when they are more than this share. */
const UNHELD_SHARE_MAX = 0.1;

/** Stands for the new number of a version that was forgotten. */
export const FORGOTTEN = 0xffff_ffff;

/** A scope contains a version that was never added, or that was forgotten since. */
export class UnknownVersion extends Error {
  override readonly message = "the scope contains a file version that is not in the index";
}

/** New numbers of versions, in the order of the old ones. */
export interface Renumbering {
  /** The versions that are kept, by their old numbers. */
  readonly kept: NumberSet;
  /** For each old number the new one, or FORGOTTEN. */
  readonly numbers: Uint32Array;
}

/**
 * The file versions of one project, which are numbered, and its scopes over them. All of its indexes name versions by
 * these numbers. The chunks of all versions are numbered, too, in the same order. A version without chunks has one such
 * number as well. A version that is added again gets another number, which takes the place of the earlier one in scopes
 * once all indexes have it.
 */
export class VersionTable {
  #ids: string[] = [];
  #numbers = new Map<string, number>();
  /** The number of the first chunk of each version, and at the end that of the next version. */
  #chunks = new Numbers(Uint32Array.of(0));
  #dimensions = new Numbers();
  /** Versions that all indexes have, and that need not be added again. */
  #known: NumberSet = emptyDocumentSet(0);
  /** Versions that no scope has held since they were added. */
  #fresh: NumberSet = emptyDocumentSet(0);
  #addedAt = 0;
  /** For the numbers of versions that are being added again, the numbers in scopes. */
  #earlier = new Map<number, number>();
  #scopes = new Map<string, NumberSet>();

  get count(): number {
    return this.#ids.length;
  }

  /** Memory without the scopes, in bytes. */
  get bytes(): number {
    const sets = this.#known.byteLength + this.#fresh.byteLength;
    return this.#chunks.bytes + this.#dimensions.bytes + sets + this.count * VERSION_BYTES;
  }

  /** The ids by number. It is another list whenever versions get other numbers. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /** The number of the first chunk of each version, and at the end that of the next version. */
  get firstChunks(): Uint32Array {
    return this.#chunks.values;
  }

  /** For each chunk the dimension of its embedding, or 0 without one. */
  get dimensions(): Uint32Array {
    return this.#dimensions.values;
  }

  /** The versions of each scope. */
  get scopes(): ReadonlyMap<string, NumberSet> {
    return this.#scopes;
  }

  numberOf(id: string): number | undefined {
    return this.#numbers.get(id);
  }

  idOf(number: number): string {
    return this.#ids[number] as string;
  }

  /** True if all indexes have the version and it need not be added again. */
  knows(id: string): boolean {
    const number = this.#numbers.get(id);
    return number !== undefined && hasDocument(this.#known, number);
  }

  /** Versions that not all indexes have, or that must be added again. */
  unknown(): string[] {
    const isUnknown = (number: number) => !hasDocument(this.#known, number);
    return this.#ids.filter((id, number) => isUnknown(number) && this.numberOf(id) === number);
  }

  /** The number under which indexes may already have a version that is being added. */
  earlierNumberOf(number: number): number {
    return this.#earlier.get(number) ?? number;
  }

  /** Gives a version the next number. It is known once all indexes have it. */
  append(id: string, dimensions: ArrayLike<number>): void {
    const last = this.#numbers.get(id);
    if (last !== undefined) {
      removeNumber(this.#known, last);
      this.#earlier.set(this.count, this.earlierNumberOf(last));
      this.#earlier.delete(last);
    }
    this.#fresh = withNumber(this.#fresh, this.count);
    this.#number(id, dimensions);
    this.#addedAt = performance.now();
  }

  #number(id: string, dimensions: ArrayLike<number>): void {
    this.#numbers.set(id, this.count);
    this.#ids.push(id);
    for (let i = 0; i < chunksOf(dimensions); i++) this.#dimensions.push(dimensions[i] ?? 0);
    this.#chunks.push(this.#dimensions.length);
  }

  /**
   * Notes that all indexes have these versions. One that is not stored has no number. Returns the new numbers of those
   * that were added again, by the earlier ones.
   */
  added(ids: readonly string[]): ReadonlyMap<number, number> {
    const moved = new Map<number, number>();
    for (const id of ids) {
      const number = this.#numbers.get(id);
      if (number === undefined) continue;
      this.#known = withNumber(this.#known, number);
      const earlier = this.#earlier.get(number);
      if (earlier !== undefined) moved.set(earlier, number);
      this.#earlier.delete(number);
    }
    if (moved.size > 0) this.#moveInScopes(moved);
    return moved;
  }

  /** Gives versions other numbers in the scopes that hold them. */
  #moveInScopes(moved: ReadonlyMap<number, number>): void {
    for (const [scopeId, scope] of this.#scopes) {
      const held = [...moved].filter(([earlier]) => hasDocument(scope, earlier));
      if (held.length === 0) continue;
      let after: NumberSet = scope.slice();
      for (const [earlier, number] of held) {
        removeNumber(after, earlier);
        after = withNumber(after, number);
      }
      this.#scopes.set(scopeId, after);
    }
  }

  /** Until they are added again, the versions count as missing, and scopes keep them as they are. */
  readAgain(ids: readonly string[]): void {
    for (const id of ids) {
      const number = this.#numbers.get(id);
      if (number !== undefined) removeNumber(this.#known, number);
    }
  }

  /** An index was restored with these versions only: all others must be added again. */
  restored(versions: NumberSet): void {
    this.#known = this.#known.map((word, w) => word & (versions[w] ?? 0));
  }

  /** The numbers of versions. Throws UnknownVersion. */
  setOf(ids: readonly string[]): NumberSet {
    const set = emptyDocumentSet(this.count);
    for (const id of ids) {
      const number = this.#numbers.get(id);
      if (number === undefined) throw new UnknownVersion();
      addDocument(set, number);
    }
    return set;
  }

  /** Replaces the contents of a scope. */
  setScope(scopeId: string, versions: NumberSet): void {
    this.#scopes.set(scopeId, versions);
    this.#fresh = this.#fresh.map((word, w) => word & ~(versions[w] ?? 0));
  }

  /** Those of these versions that a scope holds, by its numbers of them; undefined without the scope. */
  heldAmong(scopeId: string, ids: readonly string[]): NumberSet | undefined {
    const scope = this.#scopes.get(scopeId);
    if (scope === undefined) return undefined;
    let held: NumberSet = emptyDocumentSet(0);
    for (const id of ids) {
      const number = this.#numbers.get(id);
      if (number === undefined) continue;
      // Until a version has been added again, scopes have its earlier number.
      for (const each of [number, this.earlierNumberOf(number)]) {
        if (hasDocument(scope, each)) held = withNumber(held, each);
      }
    }
    return held;
  }

  dropScope(scopeId: string): void {
    this.#scopes.delete(scopeId);
  }

  /**
   * Forgets the versions that no scope holds, unless one may be about to, and gives the others new numbers. Undefined,
   * and nothing changes, while they are few.
   */
  forgetUnheld(): Renumbering | undefined {
    const kept = emptyDocumentSet(this.count);
    const isRecent = performance.now() - this.#addedAt < INDEX_UNSCOPED_KEEP_MS;
    for (const set of isRecent ? [...this.#scopes.values(), this.#fresh] : this.#scopes.values()) {
      const words = Math.min(kept.length, set.length);
      for (let w = 0; w < words; w++) kept[w] = (kept[w] as number) | (set[w] as number);
    }
    const unheld = this.count - countDocuments(kept, this.count);
    return unheld > this.count * UNHELD_SHARE_MAX ? this.#keep(kept) : undefined;
  }

  #keep(kept: NumberSet): Renumbering {
    const [ids, known] = [this.#ids, this.#known];
    const [chunks, dimensions] = [this.firstChunks, this.dimensions];
    const renumbering = { kept, numbers: new Uint32Array(ids.length).fill(FORGOTTEN) };
    this.#ids = [];
    this.#numbers = new Map();
    this.#chunks = new Numbers(Uint32Array.of(0));
    this.#dimensions = new Numbers();
    this.#known = emptyDocumentSet(0);
    for (const number of numbersIn(kept)) {
      const id = ids[number] as string;
      const added = this.count;
      renumbering.numbers[number] = added;
      this.#number(id, dimensions.subarray(chunks[number], chunks[number + 1]));
      if (hasDocument(known, number)) this.#known = withNumber(this.#known, added);
    }
    const newNumber = (number: number) => renumbering.numbers[number] as number;
    this.#fresh = renumbered(this.#fresh, newNumber);
    const scopes = [...this.#scopes].map(
      ([id, scope]) => [id, renumbered(scope, newNumber)] as const,
    );
    this.#scopes = new Map(scopes);
    const earlier = [...this.#earlier].map((pair) => pair.map(newNumber) as [number, number]);
    this.#earlier = new Map(earlier.filter((pair) => !pair.includes(FORGOTTEN)));
    return renumbering;
  }
}

/** A set under the new numbers. */
export function renumbered(set: NumberSet, newNumber: (number: number) => number): NumberSet {
  let after = emptyDocumentSet(0);
  for (const number of numbersIn(set)) {
    const added = newNumber(number);
    if (added !== FORGOTTEN) after = withNumber(after, added);
  }
  return after;
}

/** The chunks of a version that are numbered. */
export const chunksOf = (dimensions: ArrayLike<number>): number => Math.max(1, dimensions.length);

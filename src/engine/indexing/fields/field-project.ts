import { INDEX_UNSCOPED_KEEP_MS } from "../../../shared/limits.ts";
import {
  addDocument,
  countDocuments,
  emptyDocumentSet,
  hasDocument,
  nextDocument,
} from "../../text/index.ts";
import { UnknownVersion } from "../versions/version-index.ts";
import { bytesOf, type VersionFields } from "./version-fields.ts";

/** The numbers of versions, as a bitmap. */
export type NumberSet = Uint32Array;

/** The fields of one project's file versions, which are numbered, and its scopes over them. */
export class FieldProject {
  #versions: VersionFields[] = [];
  #numbers = new Map<string, number>();
  readonly scopes = new Map<string, NumberSet>();
  #addedAt = 0;
  /** Memory of the fields. */
  bytes = 0;
  /** Another value whenever versions get other numbers. */
  numbering = 0;

  get count(): number {
    return this.#versions.length;
  }

  knows(versionId: string): boolean {
    return this.#numbers.has(versionId);
  }

  add(version: VersionFields): void {
    if (this.#numbers.has(version.id)) return;
    this.#numbers.set(version.id, this.#versions.length);
    this.#versions.push(version);
    this.bytes += bytesOf(version);
    this.#addedAt = performance.now();
  }

  version(number: number): VersionFields {
    return this.#versions[number] as VersionFields;
  }

  find(versionId: string): VersionFields | undefined {
    const number = this.#numbers.get(versionId);
    return number === undefined ? undefined : this.#versions[number];
  }

  /** Replaces the contents of a scope. Throws UnknownVersion and then changes nothing. */
  setScope(scopeId: string, versionIds: readonly string[]): void {
    const scope = emptyDocumentSet(this.count);
    for (const id of versionIds) {
      const number = this.#numbers.get(id);
      if (number === undefined) throw new UnknownVersion();
      addDocument(scope, number);
    }
    this.scopes.set(scopeId, scope);
  }

  /** The numbers of a scope's versions, ascending. */
  *numbersIn(scope: NumberSet): Generator<number> {
    const { count } = this;
    let number = nextDocument(scope, 0, count);
    for (; number < count; number = nextDocument(scope, number + 1, count)) yield number;
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
    const [before, scopes] = [this.#versions, [...this.scopes]];
    const idsOf = (scope: NumberSet) =>
      before.filter((_, i) => hasDocument(scope, i)).map((v) => v.id);
    const members = scopes.map(([scopeId, scope]) => [scopeId, idsOf(scope)] as const);
    this.#versions = [];
    this.#numbers = new Map();
    this.bytes = 0;
    this.numbering++;
    for (const [number, version] of before.entries()) {
      if (hasDocument(held, number)) this.add(version);
    }
    for (const [scopeId, versionIds] of members) this.setScope(scopeId, versionIds);
  }
}

/** Versions that no scope holds are forgotten when they are more than this share. */
const UNHELD_SHARE_MAX = 0.2;

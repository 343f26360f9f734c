import { timed } from "../../observability/long-tasks.ts";
import type { DerivedScopes } from "./derived-scopes.ts";
import type { IndexingContext } from "./indexing-context.ts";
import type { ProjectSink } from "./project-sink.ts";

/** Slices of a scope that are added at the same time: one is read while another is indexed. */
const INDEX_SLICES_AT_ONCE = 2;

/** The indexes of one project in memory. Only `add` lets other work run in between. */
export class LoadedIndexes implements ProjectSink {
  readonly slicesAtOnce = INDEX_SLICES_AT_ONCE;
  readonly announcedSlices = Number.POSITIVE_INFINITY;
  /** Scopes that are the same in all indexes, so that each index knows their members. */
  readonly #settled = new Set<string>();

  constructor(
    private readonly id: string,
    private readonly context: Pick<IndexingContext, "indexes" | "fields" | "reader" | "bulk">,
    private readonly derived: Pick<DerivedScopes, "baseChanges">,
  ) {}

  exclusively(step: () => Promise<void>): Promise<void> {
    return step();
  }

  /** Most versions of a scope are those that it held before, which are found in one index. */
  unknown(versions: readonly string[], scopeId = ""): string[] {
    const { indexes, fields } = this.context;
    const isHeld = this.#settled.has(scopeId) ? fields.holds(this.id, scopeId) : () => false;
    const isKnown = (version: string) =>
      isHeld(version) || indexes.every((index) => index.knows(this.id, version));
    return timed("unknown versions", () => versions.filter((version) => !isKnown(version)));
  }

  limited<T>(isBulk: boolean, work: () => Promise<T>): Promise<T> {
    return isBulk ? this.context.bulk(work) : work();
  }

  /** Adds versions to the indexes that lack them. The indexes read concurrently. */
  async add(versions: readonly string[]): Promise<void> {
    const adding = this.context.indexes.map(async (index) => {
      const unknown = versions.filter((version) => !index.knows(this.id, version));
      if (unknown.length > 0) await index.add(this.id, unknown, this.context.reader);
    });
    // Every index must have finished before a failure makes the scope start over.
    const results = await Promise.allSettled(adding);
    const failure = results.find((result) => result.status === "rejected");
    if (failure !== undefined) throw failure.reason;
  }

  readAgain(versions: readonly string[]): void {
    for (const index of this.context.indexes) index.readAgain?.(this.id, versions);
  }

  setScope(scopeId: string, versions: readonly string[]): void {
    this.derived.baseChanges(scopeId);
    this.#settled.delete(scopeId);
    const { indexes, fields } = this.context;
    const members = timed("number versions", () => fields.numbered(this.id, versions));
    for (const index of indexes) {
      timed(`setScope ${index.name}`, () => index.setScope(this.id, scopeId, versions, members));
    }
    this.#settled.add(scopeId);
  }

  dropScope(scopeId: string): void {
    this.derived.baseChanges(scopeId);
    this.#settled.delete(scopeId);
    for (const index of this.context.indexes) index.dropScope(this.id, scopeId);
  }
}

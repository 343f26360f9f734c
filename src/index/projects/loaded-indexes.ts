import pLimit from "p-limit";
import { timed } from "../../ops/observability/long-tasks.ts";
import { numbersIn } from "../versions/number-set.ts";
import { VersionTable } from "../versions/version-table.ts";
import type { DerivedScopes } from "./derived-scopes.ts";
import type { IndexingContext } from "./indexing-context.ts";
import type { ProjectSink } from "./project-sink.ts";

/** Slices of a scope that are added at the same time: one is read while another is indexed. */
const INDEX_SLICES_AT_ONCE = 2;

/** The indexes of one project in memory, and its versions and scopes. Only `add` lets other work run in between. */
export class LoadedIndexes implements ProjectSink {
  readonly slicesAtOnce = INDEX_SLICES_AT_ONCE;
  readonly announcedSlices = Number.POSITIVE_INFINITY;
  #table = new VersionTable();
  readonly #serial = pLimit(1);

  constructor(
    private readonly id: string,
    private readonly context: Pick<IndexingContext, "indexes" | "fields" | "reader" | "bulk">,
    private readonly derived: Pick<DerivedScopes, "baseChanges">,
  ) {}

  /** Opens the project in all indexes that have not restored it together with this table. */
  open(table: VersionTable): void {
    this.#table = table;
    for (const index of this.context.indexes) index.openProject(this.id, table);
  }

  hasScope(scopeId: string): boolean {
    return this.#table.scopes.has(scopeId);
  }

  exclusively(step: () => Promise<void>): Promise<void> {
    return this.#serial(step);
  }

  unknown(versions: readonly string[]): string[] {
    const table = this.#table;
    return timed("unknown versions", () => versions.filter((version) => !table.knows(version)));
  }

  limited<T>(isBulk: boolean, work: () => Promise<T>): Promise<T> {
    return isBulk ? this.context.bulk(work) : work();
  }

  /** Adds those of the versions that are not known. The other indexes read them concurrently. */
  async add(versions: readonly string[]): Promise<void> {
    const { fields, indexes, reader } = this.context;
    const unknown = this.unknown(versions);
    if (unknown.length === 0) return;
    await fields.add(this.id, unknown, reader);
    const others = indexes.filter((index) => index !== fields);
    const adding = others.map((index) => index.add(this.id, unknown, reader));
    // Every index must have finished before a failure makes the scope start over.
    const results = await Promise.allSettled(adding);
    const failure = results.find((result) => result.status === "rejected");
    if (failure !== undefined) throw failure.reason;
    const moved = this.#table.added(unknown);
    if (moved.size > 0) for (const index of indexes) index.moveNumbers?.(this.id, moved);
  }

  readAgain(versions: readonly string[]): void {
    this.#table.readAgain(versions);
  }

  setScope(scopeId: string, versions: readonly string[]): void {
    this.derived.baseChanges(scopeId);
    const set = timed("number versions", () => this.#table.setOf(versions));
    const members = { numbers: numbersIn(set), chunks: null };
    for (const index of this.context.indexes) {
      timed(`setScope ${index.name}`, () => index.setScope?.(this.id, scopeId, members));
    }
    this.#table.setScope(scopeId, set);
  }

  dropScope(scopeId: string): void {
    this.derived.baseChanges(scopeId);
    this.#table.dropScope(scopeId);
    for (const index of this.context.indexes) index.dropScope?.(this.id, scopeId);
  }

  /** Forgets versions that no scope holds, if they are many, as soon as no step runs whose scope may need them. */
  async forgetUnheld(): Promise<void> {
    await this.#serial(() => timed("forget versions", () => this.#forgetUnheld()));
  }

  #forgetUnheld(): void {
    const renumbering = this.#table.forgetUnheld();
    if (renumbering === undefined) return;
    for (const index of this.context.indexes) index.renumber(this.id, renumbering);
  }
}

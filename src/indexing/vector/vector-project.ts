import * as native from "../../../native/index.ts";
import { timed } from "../../observability/long-tasks.ts";
import { INDEX_UNSCOPED_KEEP_MS } from "../../shared/limits.ts";
import type { Members } from "../versions/version-index.ts";
import type { RangeList } from "./range-list.ts";
import type { VersionSpans } from "./spans.ts";

/** Pause of an index whose maintenance has nothing to do for the moment. */
const INDEX_MAINTENANCE_PAUSE_MS = 500;

/** The first line of the versions of a snapshot. */
export interface SnapshotHead {
  readonly format: number;
  /** Changes up to this one are in it. */
  readonly seq: number;
}

/** The vectors of one project. */
export class VectorProject {
  readonly #dimensions: Set<number>;
  /** Dimensions that may have work left for maintenance. */
  readonly #unmaintained: Set<number>;
  /** Those of them that have changed since the last step began. */
  readonly #changed = new Set<number>();
  /** Versions that no scope has named since they were added. */
  readonly #unscoped = new Set<string>();
  #addedAt = 0;
  /** Calls of `add` that run. Ordinals must not change meanwhile, because they are noted at its end. */
  #adding = 0;
  #saving: Promise<void> | undefined;
  /** Called once the compaction that waits to be committed has been. */
  #compacted: (() => void) | undefined;
  #closed = false;
  #restsUntil = 0;

  /**
   * @param name its name in the native registry
   * @param dimensions those of its vectors
   */
  constructor(
    private readonly name: string,
    readonly versions: VersionSpans,
    dimensions: readonly number[],
  ) {
    this.#dimensions = new Set(dimensions);
    this.#unmaintained = new Set(dimensions);
  }

  /** Ends the maintenance in progress without effect. */
  close(): void {
    this.#closed = true;
    this.#compacted?.();
  }

  get closed(): boolean {
    return this.#closed;
  }

  append(dimension: number, batch: native.AppendBatch): Uint32Array {
    this.#dimensions.add(dimension);
    this.#noteChange(dimension);
    return native.append(this.name, dimension, batch);
  }

  /** Adds the versions whose spans `read` collects. If it fails, they remain unknown. */
  async add(read: (added: Map<string, number[]>) => Promise<void>): Promise<void> {
    const added = new Map<string, number[]>();
    this.#commitIfAtRest();
    this.#adding++;
    try {
      await read(added);
      for (const [id, spans] of added) {
        this.versions.set(id, spans);
        if (spans.length > 0) this.#unscoped.add(id);
      }
    } finally {
      this.#adding--;
      this.#addedAt = performance.now();
      this.#commitIfAtRest();
    }
  }

  setScope(scopeId: string, versionIds: readonly string[], members?: Members): void {
    const { versions } = this;
    const isNumbered = members !== undefined;
    const ranges = isNumbered ? versions.rangesOfMembers(members) : versions.rangesOf(versionIds);
    this.#setRanges(scopeId, ranges);
    if (this.#unscoped.size > 0) for (const id of versionIds) this.#unscoped.delete(id);
    this.#lookForDeletedChunks();
  }

  /** Sets a part of a scope, which leaves no chunks behind when it is dropped. */
  derive(scopeId: string, members: Members): void {
    this.#setRanges(scopeId, this.versions.rangesOfMembers(members));
  }

  #setRanges(scopeId: string, lists: ReadonlyMap<number, RangeList>): void {
    const ranges = [...lists].map(([dimension, list]) => ({ dimension, ranges: list.pairs }));
    native.setScope(this.name, scopeId, ranges);
  }

  dropScope(scopeId: string): void {
    native.dropScope(this.name, scopeId);
    this.#lookForDeletedChunks();
  }

  /** True when maintenance has nothing to do. */
  get isMaintained(): boolean {
    return this.#unmaintained.size === 0;
  }

  /** True when all vectors of a dimension are in graphs, or in shards that need none. */
  isComplete(dimension: number): boolean {
    return !this.#unmaintained.has(dimension);
  }

  /** True while maintenance pauses, because it has just found nothing to do. */
  get isResting(): boolean {
    return performance.now() < this.#restsUntil;
  }

  /** Does one step of maintenance. After a failure, and if the project is closed, it has no effect. */
  async maintain(threads: number): Promise<void> {
    const dimension = this.#unmaintained.values().next().value;
    if (dimension === undefined) return;
    // The last in the set has its next turn after the others.
    this.#unmaintained.delete(dimension);
    this.#unmaintained.add(dimension);
    this.#changed.delete(dimension);
    this.#restsUntil = performance.now() + INDEX_MAINTENANCE_PAUSE_MS;
    // While versions are being added it is not known which of their chunks must stay.
    const kept = this.#adding > 0 ? null : this.#unscopedOrdinals(dimension);
    const step = await native.maintain(this.name, dimension, kept, threads);
    if (step.compacted) await this.#compact();
    if (step.worked) this.#restsUntil = 0;
    if (step.complete && !this.#changed.has(dimension)) this.#unmaintained.delete(dimension);
  }

  recalibrate(dimension: number): void {
    native.recalibrate(this.name, dimension);
    this.#noteChange(dimension);
  }

  /** Writes the vectors and the versions. */
  snapshot(directory: string, head: SnapshotHead): Promise<void> {
    this.#saving = this.#save(directory, head).finally(() => {
      this.#saving = undefined;
      this.#commitIfAtRest();
    });
    return this.#saving;
  }

  async #save(directory: string, head: SnapshotHead): Promise<void> {
    // Encoded before the vectors are written: every version named here has its vectors there.
    const lines = await this.versions.encode();
    const text = [JSON.stringify(head), ...lines].join("\n");
    await native.snapshot(this.name, directory, new TextEncoder().encode(text));
  }

  /** Chunks may have been left by the last scope that named them. */
  #lookForDeletedChunks(): void {
    for (const dimension of this.#dimensions) this.#noteChange(dimension);
  }

  #noteChange(dimension: number): void {
    this.#unmaintained.add(dimension);
    this.#changed.add(dimension);
  }

  /** The ordinals of versions that a scope may be about to name. */
  #unscopedOrdinals(dimension: number): Uint32Array {
    if (performance.now() - this.#addedAt > INDEX_UNSCOPED_KEEP_MS) this.#unscoped.clear();
    const ranges = this.versions.rangesOf([...this.#unscoped]).get(dimension);
    return ranges?.pairs ?? new Uint32Array(0);
  }

  /** Waits for a moment when nothing relies on the numbering of a shard, and replaces it. */
  #compact(): Promise<void> {
    return new Promise((resolve) => {
      this.#compacted = resolve;
      this.#commitIfAtRest();
    });
  }

  #commitIfAtRest(): void {
    const resolve = this.#compacted;
    if (resolve === undefined || this.#adding > 0 || this.#saving !== undefined) return;
    this.#compacted = undefined;
    if (!this.#closed) {
      timed("commit a compaction", () => {
        const compacted = native.commitCompaction(this.name);
        if (compacted !== null) this.versions.renumber(compacted);
      });
    }
    resolve();
  }
}

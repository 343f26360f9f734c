import * as native from "../../../native/index.ts";
import { timed } from "../../ops/observability/long-tasks.ts";
import type { Part, PartWriter } from "../snapshots/parts.ts";
import type { Members } from "../versions/version-index.ts";
import type { Renumbering } from "../versions/version-table.ts";
import type { VersionSpans } from "./spans.ts";

/** Pause of an index whose maintenance has nothing to do for the moment. */
const INDEX_MAINTENANCE_PAUSE_MS = 500;

/** The vectors of one project. */
export class VectorProject {
  readonly #dimensions: Set<number>;
  /** Dimensions that may have work left for maintenance. */
  readonly #unmaintained: Set<number>;
  /** Those of them that have changed since the last step began. */
  readonly #changed = new Set<number>();
  /** Calls of `add` that run. Ordinals must not change meanwhile, because they are noted at its end. */
  #adding = 0;
  #isSaving = false;
  /** Called once the compaction that waits to be committed has been. */
  #compacted: (() => void) | undefined;
  #closed = false;
  #restsUntil = 0;
  /** Whether the last step of maintenance has changed something. */
  #worked = false;

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

  /** Adds the versions whose spans `read` collects, unless it fails. */
  async add(read: (added: Map<string, number[]>) => Promise<void>): Promise<void> {
    const added = new Map<string, number[]>();
    this.#commitIfAtRest();
    this.#adding++;
    try {
      await read(added);
      for (const [id, spans] of added) {
        const number = this.versions.table.numberOf(id);
        if (number !== undefined) this.versions.set(number, spans);
      }
    } finally {
      this.#adding--;
      this.#commitIfAtRest();
    }
  }

  setScope(scopeId: string, members: Members): void {
    const { lists } = this.versions.rangesOf(members);
    const ranges = [...lists].map(([dimension, list]) => ({ dimension, ranges: list.pairs }));
    native.setScope(this.name, scopeId, ranges);
  }

  /** Takes over new numbers. Maintenance looks for the chunks of versions that were forgotten. */
  renumber(renumbering: Renumbering): void {
    this.versions.renumber(renumbering);
    for (const dimension of this.#dimensions) this.#noteChange(dimension);
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

  /** Whether maintenance has changed something since the last call. */
  takeWorked(): boolean {
    const worked = this.#worked;
    this.#worked = false;
    return worked;
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
    const kept = this.#adding > 0 ? null : this.#ordinals(dimension);
    const step = await native.maintain(this.name, dimension, kept, threads);
    if (step.compacted) await this.#compact();
    if (step.worked) {
      this.#restsUntil = 0;
      this.#worked = true;
    }
    if (step.complete && !this.#changed.has(dimension)) this.#unmaintained.delete(dimension);
  }

  recalibrate(dimension: number): void {
    native.recalibrate(this.name, dimension);
    this.#noteChange(dimension);
  }

  /** Writes the versions and the vectors. */
  async snapshot(writer: PartWriter): Promise<readonly Part[]> {
    this.#isSaving = true;
    try {
      // Encoded before the vectors are written: every version named here has its vectors there.
      const lines = await this.versions.encode();
      const vectors = await native.snapshot(this.name, writer.directory);
      const bytes = Buffer.from(lines.join("\n"));
      return [await writer.write(`spans-${crypto.randomUUID()}.txt`, bytes), ...vectors];
    } finally {
      this.#isSaving = false;
      this.#commitIfAtRest();
    }
  }

  #noteChange(dimension: number): void {
    this.#unmaintained.add(dimension);
    this.#changed.add(dimension);
  }

  /** The ordinals of all versions, including those that a scope will name soon. */
  #ordinals(dimension: number): Uint32Array {
    return this.versions.all().lists.get(dimension)?.pairs ?? new Uint32Array(0);
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
    if (resolve === undefined || this.#adding > 0 || this.#isSaving) return;
    this.#compacted = undefined;
    if (!this.#closed) {
      timed("commit a compaction", () => {
        const compacted = native.commitCompaction(this.name);
        if (compacted !== null) this.versions.compacted(compacted);
      });
    }
    resolve();
  }
}

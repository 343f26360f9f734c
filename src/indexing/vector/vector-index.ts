import * as native from "../../../native/index.ts";
import { step } from "../../observability/long-tasks.ts";
import { DISK_FORMATS } from "../../shared/disk-formats.ts";
import { INDEX_SETTLE_SLICE_MS } from "../../shared/limits.ts";
import {
  type ChunkRow,
  type IndexPart,
  UnknownVersion,
  type VersionIndex,
  type VersionReader,
} from "../versions/version-index.ts";
import { appendBatch, vectorOf } from "./chunk-batch.ts";

/** (dimension, first ordinal, count) triples. Nearly every version has one, or none. */
type Spans = Uint32Array;

const NO_SPANS: Spans = new Uint32Array(0);
const FORMAT = DISK_FORMATS.vectorVersions;
/** Versions that are noted or read at once. */
const META_SLICE_VERSIONS = 4_096;
const FIRST_SLICE_VECTORS = 64;

interface Project {
  readonly versions: Map<string, Spans>;
  /** Dimensions whose graph may lag behind their vectors. */
  readonly unsettled: Set<number>;
}

/** Extends the spans of a version by one chunk; ordinals of a dimension only ever grow. */
function extend(spans: number[], dimension: number, ordinal: number): void {
  for (let i = 0; i < spans.length; i += 3) {
    if (spans[i] !== dimension) continue;
    if ((spans[i + 1] as number) + (spans[i + 2] as number) === ordinal) {
      (spans[i + 2] as number) += 1;
      return;
    }
  }
  spans.push(dimension, ordinal, 1);
}

/** The index behind vector search: native memory that all threads of the process search. */
export class VectorIndex implements VersionIndex {
  readonly name = "vector";
  readonly #projects = new Map<string, Project>();
  /** Vectors that lately fitted into one slice of graph work. */
  #sliceVectors = FIRST_SLICE_VECTORS;

  /**
   * @param nativeName how a project is called in the native registry, which belongs to the process
   * @param onUnusable told of chunks whose embedding no search could score
   */
  constructor(
    private readonly nativeName: (projectId: string) => string,
    private readonly onUnusable: (chunkId: string) => void = () => {},
  ) {}

  openProject(projectId: string): void {
    if (this.#projects.has(projectId)) return;
    native.openProject(this.nativeName(projectId));
    this.#projects.set(projectId, { versions: new Map(), unsettled: new Set() });
  }

  dropProject(projectId: string): void {
    this.#projects.delete(projectId);
    native.dropProject(this.nativeName(projectId));
  }

  knows(projectId: string, versionId: string): boolean {
    return this.#projects.get(projectId)?.versions.has(versionId) ?? false;
  }

  async add(
    projectId: string,
    versionIds: readonly string[],
    reader: VersionReader,
  ): Promise<void> {
    const added = new Map<string, number[]>();
    for await (const rows of reader.chunks(versionIds))
      step("append", () => this.#append(projectId, rows, added));
    const { versions } = this.#project(projectId);
    for (const id of versionIds) {
      const spans = added.get(id);
      // The copy of the id keeps the long string that it was cut out of from staying in memory.
      versions.set(Buffer.from(id).toString(), spans ? Uint32Array.from(spans) : NO_SPANS);
    }
  }

  setScope(projectId: string, scopeId: string, versionIds: readonly string[]): void {
    const { versions } = this.#project(projectId);
    const pairs = new Map<number, number[]>();
    for (const id of versionIds) {
      const spans = versions.get(id);
      if (spans === undefined) throw new UnknownVersion();
      for (let i = 0; i < spans.length; i += 3) {
        const dimension = spans[i] as number;
        const list = pairs.get(dimension) ?? [];
        if (list.length === 0) pairs.set(dimension, list);
        const start = spans[i + 1] as number;
        const last = list.length - 2;
        // Versions that were added together most often stand in a scope together.
        if (last >= 0 && (list[last] as number) + (list[last + 1] as number) === start) {
          (list[last + 1] as number) += spans[i + 2] as number;
        } else {
          list.push(start, spans[i + 2] as number);
        }
      }
    }
    const ranges = [...pairs].map(([dimension, list]) => ({
      dimension,
      ranges: new Uint32Array(list),
    }));
    native.setScope(this.nativeName(projectId), scopeId, ranges);
  }

  dropScope(projectId: string, scopeId: string): void {
    native.dropScope(this.nativeName(projectId), scopeId);
  }

  hasScope(projectId: string, scopeId: string): boolean {
    return native.hasScope(this.nativeName(projectId), scopeId);
  }

  settle(projectId: string): boolean {
    const unsettled = this.#projects.get(projectId)?.unsettled;
    const dimension = unsettled?.values().next().value;
    if (unsettled === undefined || dimension === undefined) return false;
    const startedAt = performance.now();
    const left = step("extendGraph", () =>
      native.extendGraph(this.nativeName(projectId), dimension, this.#sliceVectors),
    );
    const took = performance.now() - startedAt;
    if (took > INDEX_SETTLE_SLICE_MS) this.#sliceVectors = Math.max(1, this.#sliceVectors >> 1);
    else if (left >= this.#sliceVectors && took < INDEX_SETTLE_SLICE_MS / 2)
      this.#sliceVectors *= 2;
    if (left === 0) unsettled.delete(dimension);
    return unsettled.size > 0;
  }

  async snapshot(projectId: string, directory: string): Promise<void> {
    // Noted before the vectors: whatever versions are named here have theirs in the snapshot.
    const lines = [JSON.stringify({ format: FORMAT })];
    const slice: string[] = [];
    for (const [id, spans] of this.#project(projectId).versions) {
      slice.push(`${id} ${spans.join(" ")}`);
      if (slice.length < META_SLICE_VERSIONS) continue;
      lines.push(slice.splice(0).join("\n"));
      await Bun.sleep(0);
    }
    const meta = new TextEncoder().encode([...lines, ...slice].join("\n"));
    await native.snapshotLater(this.nativeName(projectId), directory, meta);
  }

  async restore(projectId: string, directory: string): Promise<boolean> {
    const meta = await native.restoreLater(this.nativeName(projectId), directory);
    if (meta === null) return false;
    const [head = "", ...lines] = new TextDecoder().decode(meta).split("\n");
    const { format } = JSON.parse(head) as { format: number };
    if (format !== FORMAT) {
      native.dropProject(this.nativeName(projectId));
      throw new Error(`format ${format} instead of ${FORMAT}`);
    }
    const versions = new Map<string, Spans>();
    for (const line of lines) {
      const [id = "", ...spans] = line.split(" ");
      versions.set(Buffer.from(id).toString(), Uint32Array.from(spans.filter(Boolean), Number));
      if (versions.size % META_SLICE_VERSIONS === 0) await Bun.sleep(0);
    }
    const dimensions =
      native.stats(this.nativeName(projectId))?.dimensions.map((part) => part.dimension) ?? [];
    this.#projects.set(projectId, { versions, unsettled: new Set(dimensions) });
    return true;
  }

  stats(projectId: string): readonly IndexPart[] {
    const stats = native.stats(this.nativeName(projectId));
    if (stats === null) return [];
    return stats.dimensions.map(({ dimension, vectors, distinct, graphed, bytes }, i) => ({
      dimension,
      entries: vectors,
      // Small indexes have no graph, and then nothing waits for one.
      settled: this.#isSettled(projectId, dimension) ? vectors : vectors - (distinct - graphed),
      // Scopes span the dimensions, so their memory is counted once, with the first.
      bytes:
        bytes.codes +
        bytes.vectors +
        bytes.graph +
        bytes.rendered +
        bytes.ids +
        (i === 0 ? stats.scopeBytes : 0),
    }));
  }

  #isSettled(projectId: string, dimension: number): boolean {
    return this.#projects.get(projectId)?.unsettled.has(dimension) !== true;
  }

  #project(projectId: string): Project {
    const project = this.#projects.get(projectId);
    if (project === undefined) throw new Error("the project is not open");
    return project;
  }

  #append(projectId: string, rows: readonly ChunkRow[], added: Map<string, number[]>): void {
    const groups = new Map<number, { rows: ChunkRow[]; vectors: Float32Array[] }>();
    for (const row of rows) {
      const vector = vectorOf(row);
      if (vector === null) {
        this.onUnusable(row.id);
        continue;
      }
      const group = groups.get(row.dimension) ?? { rows: [], vectors: [] };
      groups.set(row.dimension, group);
      group.rows.push(row);
      group.vectors.push(vector);
    }
    for (const [dimension, group] of groups) {
      const batch = appendBatch(group.rows, group.vectors, dimension);
      const first = native.append(this.nativeName(projectId), dimension, batch);
      this.#project(projectId).unsettled.add(dimension);
      for (const [i, row] of group.rows.entries()) {
        const spans = added.get(row.file_version_id) ?? [];
        if (spans.length === 0) added.set(row.file_version_id, spans);
        extend(spans, dimension, first + i);
      }
    }
  }
}

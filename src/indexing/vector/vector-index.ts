import * as native from "../../../native/index.ts";
import { timed } from "../../observability/long-tasks.ts";
import { DISK_FORMATS } from "../../shared/disk-formats.ts";
import {
  INDEX_GRAPH_FIRST_SLICE_VECTORS,
  INDEX_MAINTENANCE_SLICE_MS,
} from "../../shared/limits.ts";
import type {
  ChunkRow,
  IndexPart,
  VersionIndex,
  VersionReader,
} from "../versions/version-index.ts";
import { appendBatch, vectorOf } from "./chunk-batch.ts";
import { extendSpans, VersionSpans } from "./spans.ts";

const FORMAT = DISK_FORMATS.vectorVersions;

interface Project {
  readonly versions: VersionSpans;
  /** Dimensions whose graph may lack vectors. */
  readonly incompleteGraphs: Set<number>;
}

/** The index for vector search, in native memory that all threads of the process search. */
export class VectorIndex implements VersionIndex {
  readonly name = "vector";
  readonly #projects = new Map<string, Project>();
  /** How many vectors recently fitted into one slice of graph work. */
  #sliceVectors = INDEX_GRAPH_FIRST_SLICE_VECTORS;

  /**
   * @param nativeName the name of a project in the native registry, which belongs to the process
   * @param onUnusable called with the id of a chunk whose embedding no search could score
   */
  constructor(
    private readonly nativeName: (projectId: string) => string,
    private readonly onUnusable: (chunkId: string) => void = () => {},
  ) {}

  openProject(projectId: string): void {
    if (this.#projects.has(projectId)) return;
    native.openProject(this.nativeName(projectId));
    this.#projects.set(projectId, { versions: new VersionSpans(), incompleteGraphs: new Set() });
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
      timed("append", () => this.#append(projectId, rows, added));
    const { versions } = this.#project(projectId);
    for (const id of versionIds) versions.set(id, added.get(id));
  }

  setScope(projectId: string, scopeId: string, versionIds: readonly string[]): void {
    const pairs = this.#project(projectId).versions.rangesOf(versionIds);
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

  maintain(projectId: string): boolean {
    const incomplete = this.#projects.get(projectId)?.incompleteGraphs;
    const dimension = incomplete?.values().next().value;
    if (incomplete === undefined || dimension === undefined) return false;
    const startedAt = performance.now();
    const left = timed("extendGraph", () =>
      native.extendGraph(this.nativeName(projectId), dimension, this.#sliceVectors),
    );
    const took = performance.now() - startedAt;
    if (took > INDEX_MAINTENANCE_SLICE_MS)
      this.#sliceVectors = Math.max(1, this.#sliceVectors >> 1);
    else if (left >= this.#sliceVectors && took < INDEX_MAINTENANCE_SLICE_MS / 2)
      this.#sliceVectors *= 2;
    if (left === 0) incomplete.delete(dimension);
    return incomplete.size > 0;
  }

  recalibrate(projectId: string, dimension: number): void {
    native.recalibrate(this.nativeName(projectId), dimension);
    this.#project(projectId).incompleteGraphs.add(dimension);
  }

  async snapshot(projectId: string, directory: string): Promise<void> {
    // Encoded before the vectors are written: every version named here has its vectors there.
    const lines = await this.#project(projectId).versions.encode();
    const meta = new TextEncoder().encode(
      [JSON.stringify({ format: FORMAT }), ...lines].join("\n"),
    );
    await native.snapshot(this.nativeName(projectId), directory, meta);
  }

  async restore(projectId: string, directory: string): Promise<boolean> {
    const name = this.nativeName(projectId);
    const meta = await native.restore(name, directory);
    if (meta === null) return false;
    const [head = "", ...lines] = new TextDecoder().decode(meta).split("\n");
    const { format } = JSON.parse(head) as { format: number };
    if (format !== FORMAT) {
      native.dropProject(name);
      throw new Error(`the format is ${format}, expected ${FORMAT}`);
    }
    const versions = await VersionSpans.decode(lines);
    const dimensions = native.stats(name)?.dimensions.map((part) => part.dimension) ?? [];
    this.#projects.set(projectId, { versions, incompleteGraphs: new Set(dimensions) });
    return true;
  }

  stats(projectId: string): readonly IndexPart[] {
    const stats = native.stats(this.nativeName(projectId));
    if (stats === null) return [];
    return stats.dimensions.map(({ dimension, vectors, distinct, graphed, bytes }, i) => ({
      dimension,
      entries: vectors,
      // Small indexes have no graph, so none of their vectors waits for one.
      maintained: this.#isComplete(projectId, dimension) ? vectors : vectors - (distinct - graphed),
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

  #isComplete(projectId: string, dimension: number): boolean {
    return this.#projects.get(projectId)?.incompleteGraphs.has(dimension) !== true;
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
      this.#project(projectId).incompleteGraphs.add(dimension);
      for (const [i, row] of group.rows.entries()) {
        const spans = added.get(row.file_version_id) ?? [];
        if (spans.length === 0) added.set(row.file_version_id, spans);
        extendSpans(spans, dimension, first + i);
      }
    }
  }
}

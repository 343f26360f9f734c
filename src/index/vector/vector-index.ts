import { availableParallelism } from "node:os";
import * as native from "../../../native/index.ts";
import { timed } from "../../ops/observability/long-tasks.ts";
import type { Part, PartReader, PartWriter } from "../snapshots/parts.ts";
import { vectorOf } from "../versions/chunk-content.ts";
import { OpenProjects } from "../versions/open-projects.ts";
import type {
  ChunkRow,
  EmptyVersionRow,
  IndexPart,
  MaintenanceState,
  Members,
  VersionIndex,
  VersionReader,
} from "../versions/version-index.ts";
import type { Renumbering, VersionTable } from "../versions/version-table.ts";
import { appendBatch } from "./chunk-batch.ts";
import { addToSpans, VersionSpans } from "./spans.ts";
import { VectorProject } from "./vector-project.ts";

/** The dimension of chunks without a vector. */
const NO_VECTORS = 0;

/** Every core builds graphs. Half of the threads step back from everything else, as the addon sets them. */
const BUILD_THREADS = availableParallelism();

interface ProjectNames {
  /** The name of a project, the same until it is dropped. */
  of(projectId: string): string;
  drop(projectId: string): void;
}

/** Whose turn it is to be maintained. */
interface MaintenanceTurns {
  running: boolean;
  /** The project that had the last turn. */
  last: string;
  readonly waiting: Set<string>;
}

/** The chunks and their vectors, in native memory that all threads of the process search. */
export class VectorIndex implements VersionIndex {
  readonly name = "vector";
  readonly #projects = new OpenProjects<VectorProject>();
  /** One project is maintained at a time, each in turn. */
  readonly #turns: MaintenanceTurns = { running: false, last: "", waiting: new Set() };

  /**
   * @param names those of projects in the native registry
   * @param onUnusable called with the id of a chunk whose embedding no search could score
   * @param onFailed called when maintenance of a project failed; it is tried again
   */
  constructor(
    private readonly names: ProjectNames,
    private readonly onUnusable: (chunkId: string) => void = () => {},
    private readonly onFailed: (projectId: string, error: unknown) => void = () => {},
  ) {}

  openProject(projectId: string, table: VersionTable): void {
    if (this.#projects.has(projectId)) return;
    const name = this.names.of(projectId);
    native.openProject(name);
    this.#projects.set(projectId, new VectorProject(name, new VersionSpans(table), []));
  }

  dropProject(projectId: string): void {
    this.#projects.get(projectId)?.close();
    this.#projects.delete(projectId);
    this.#turns.waiting.delete(projectId);
    native.dropProject(this.names.of(projectId));
    this.names.drop(projectId);
  }

  async add(
    projectId: string,
    versionIds: readonly string[],
    reader: VersionReader,
  ): Promise<void> {
    const project = this.#projects.opened(projectId);
    await project.add(async (added) => {
      for await (const rows of reader.chunks(versionIds))
        timed("append", () => this.#append(project, rows, added));
    });
  }

  setScope(projectId: string, scopeId: string, members: Members): void {
    this.#projects.opened(projectId).setScope(scopeId, members);
  }

  dropScope(projectId: string, scopeId: string): void {
    native.dropScope(this.names.of(projectId), scopeId);
  }

  renumber(projectId: string, renumbering: Renumbering): void {
    this.#projects.opened(projectId).renumber(renumbering);
  }

  maintain(projectId: string): MaintenanceState {
    const project = this.#projects.get(projectId);
    const turns = this.#turns;
    if (project?.takeWorked()) return "more";
    if (project === undefined || project.isMaintained) {
      turns.waiting.delete(projectId);
      return "done";
    }
    if (project.isResting) return "busy";
    turns.waiting.add(projectId);
    const isOthersTurn = turns.last === projectId && turns.waiting.size > 1;
    if (turns.running || isOthersTurn) return "busy";
    turns.waiting.delete(projectId);
    turns.last = projectId;
    turns.running = true;
    void this.#maintain(projectId, project);
    return "busy";
  }

  async #maintain(projectId: string, project: VectorProject): Promise<void> {
    try {
      await project.maintain(BUILD_THREADS);
    } catch (error) {
      if (!project.closed) this.onFailed(projectId, error);
    }
    this.#turns.running = false;
  }

  recalibrate(projectId: string, dimension: number): void {
    this.#projects.opened(projectId).recalibrate(dimension);
  }

  snapshot(projectId: string, writer: PartWriter): Promise<readonly Part[]> {
    return this.#projects.opened(projectId).snapshot(writer);
  }

  async restore(projectId: string, table: VersionTable, reader: PartReader): Promise<void> {
    const [spans, ...vectors] = reader.parts;
    const lines = (await reader.read(spans)).toString().split("\n");
    const name = this.names.of(projectId);
    await native.restore(name, reader.directory, vectors);
    const versions = await VersionSpans.decode(table, lines);
    const dimensions = native.stats(name)?.dimensions.map((part) => part.dimension) ?? [];
    this.#projects.set(projectId, new VectorProject(name, versions, dimensions));
  }

  stats(projectId: string): readonly IndexPart[] {
    const stats = native.stats(this.names.of(projectId));
    if (stats === null) return [];
    return stats.dimensions.map(({ dimension, vectors, distinct, graphed, bytes }, i) => {
      // Chunks without a vector need no graph. Their compaction frees memory, for which nobody waits.
      const settled =
        dimension === NO_VECTORS || this.#projects.get(projectId)?.isComplete(dimension) === true;
      const entries = dimension === NO_VECTORS ? 0 : vectors;
      return {
        dimension,
        entries,
        // Small indexes have no graph, so none of their vectors waits for one.
        maintained: settled ? entries : entries - (distinct - graphed),
        settled,
        // Scopes span the dimensions, so their memory is counted once, with the first.
        bytes:
          bytes.codes +
          bytes.vectors +
          bytes.graph +
          bytes.rendered +
          bytes.ids +
          (i === 0 ? stats.scopeBytes : 0),
      };
    });
  }

  #append(
    project: VectorProject,
    rows: ReadonlyArray<ChunkRow | EmptyVersionRow>,
    added: Map<string, number[]>,
  ): void {
    const entries = rows.map((row) => {
      const vector = vectorOf(row);
      if (row.embedding !== null && vector === null) this.onUnusable(row.id);
      return { row, vector, dimension: vector?.length ?? NO_VECTORS };
    });
    const ordinals = new Map<(typeof entries)[number], number>();
    for (const [dimension, group] of Map.groupBy(entries, (entry) => entry.dimension)) {
      const own = project.append(
        dimension,
        appendBatch(
          group.map(({ row }) => row),
          group.map(({ vector }) => vector),
          dimension,
        ),
      );
      for (const [i, entry] of group.entries()) ordinals.set(entry, own[i] as number);
    }
    // In the order of the chunks of each version.
    for (const entry of entries) {
      const { file_version_id } = entry.row;
      const spans = added.get(file_version_id) ?? [];
      added.set(file_version_id, spans);
      addToSpans(spans, entry.dimension, ordinals.get(entry) as number);
    }
  }
}

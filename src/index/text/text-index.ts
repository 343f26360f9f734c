import { availableParallelism } from "node:os";
import { timed } from "../../ops/observability/long-tasks.ts";
import { SegmentReader, type SharedSegment, type TextMessage } from "../segments/index.ts";
import type { Part, PartReader, PartWriter } from "../snapshots/parts.ts";
import { numbersIn } from "../versions/number-set.ts";
import { OpenProjects } from "../versions/open-projects.ts";
import type {
  DocumentRow,
  IndexPart,
  MaintenanceState,
  Members,
  VersionIndex,
  VersionReader,
} from "../versions/version-index.ts";
import type { Renumbering, VersionTable } from "../versions/version-table.ts";
import type { TextRow } from "./build-from-rows.ts";
import { runSegmentTask, type SegmentTask } from "./segment-task.ts";
import { SegmentThreads } from "./segment-threads.ts";
import { TextMaintenance } from "./text-maintenance.ts";
import { type Merged, TextProject } from "./text-project.ts";
import type { TextSegment } from "./text-segment.ts";
import { readTextSnapshot, writeTextSnapshot } from "./text-snapshot.ts";

/** Less text is indexed on the indexing thread itself, so that small changes are visible at once. */
const TEXT_BUILD_INLINE_CHARS = 32_768;
const TEXT_BUILD_THREADS_MAX = 3;
/** Markdown text per new segment. */
const TEXT_BUILD_CHARS = 1_048_576;
/** Threads that build segments yield a little to those that answer requests. */
const TEXT_BUILD_NICENESS = 1;

/** A project that was indexed from the beginning is ready unmerged if its merges take longer than this. */
const TEXT_SETTLE_MAX_MS = 5_000;

const KNOWLEDGE_PATH = /\.(?:md|mdx|markdown)$/i;

function textRowOf({ file_version_id: id, path, content }: DocumentRow): TextRow | null {
  return content === null || !KNOWLEDGE_PATH.test(path) ? null : { id, path, content };
}

function shared({ key, segment }: TextSegment): SharedSegment {
  return { key, buffer: segment.buffer as SharedArrayBuffer };
}

/**
 * The index for knowledge lookup. It belongs to the indexing thread. Every new segment and scope is
 * published to the main thread, which passes them to the workers. Both are in shared memory.
 */
export class TextIndex implements VersionIndex {
  readonly name = "text";
  readonly #projects = new OpenProjects<TextProject>();
  /** One per core: the indexing thread and the main thread mostly wait, and wake up before these. */
  readonly #builders = new SegmentThreads(
    Math.min(TEXT_BUILD_THREADS_MAX, availableParallelism()),
    TEXT_BUILD_NICENESS,
  );
  readonly #maintenance = new TextMaintenance(this.#builders);

  /** @param onFailed called when a merge of a project's segments failed; it is tried again */
  constructor(
    private readonly publish: (message: TextMessage) => void,
    private readonly onFailed: (projectId: string, error: unknown) => void = () => {},
  ) {}

  openProject(projectId: string, table: VersionTable): void {
    if (!this.#projects.has(projectId)) this.#projects.set(projectId, new TextProject(table));
  }

  dropProject(projectId: string): void {
    if (this.#projects.delete(projectId)) this.publish({ type: "project-dropped", projectId });
  }

  async add(
    projectId: string,
    versionIds: readonly string[],
    reader: VersionReader,
  ): Promise<void> {
    const project = this.#projects.opened(projectId);
    // The texts of versions never change, also if their chunks get embeddings.
    const unread = versionIds.filter((id) => !project.has(id));
    if (unread.length === 0) return;
    // Copies of the ids: a substring would keep the long string it was cut from in memory.
    const withoutText: string[] = [];
    const builds: Array<Promise<void>> = [];
    let rows: TextRow[] = [];
    let chars = 0;
    const build = () => {
      if (rows.length > 0) builds.push(this.#build(projectId, project, rows, chars));
      rows = [];
      chars = 0;
    };
    for await (const batch of reader.documents(unread)) {
      for (const each of batch) {
        const row = textRowOf(each);
        if (row === null) {
          withoutText.push(Buffer.from(each.file_version_id).toString());
          continue;
        }
        rows.push(row);
        chars += row.content.length;
        if (chars < TEXT_BUILD_CHARS) continue;
        build();
        // Reading continues while the threads are busy, but not far ahead of them.
        await builds.at(-2 * this.#builders.size);
      }
    }
    build();
    const results = await Promise.allSettled(builds);
    const failure = results.find((result) => result.status === "rejected");
    if (failure !== undefined) throw failure.reason;
    project.addWithoutText(withoutText);
  }

  /** Adds a segment of the rows. A little text is indexed here, more of it on other threads. */
  async #build(
    projectId: string,
    project: TextProject,
    rows: readonly TextRow[],
    chars: number,
  ): Promise<void> {
    const task: SegmentTask = { kind: "build", rows };
    const { buffer } =
      chars < TEXT_BUILD_INLINE_CHARS
        ? timed("build a segment", () => runSegmentTask(task))
        : await this.#builders.run(task);
    this.#addSegment(projectId, project, buffer);
    // A project that is being loaded is not maintained otherwise.
    if (this.#projects.get(projectId) === project) this.#mergeNext(projectId, project, true);
  }

  setScope(projectId: string, scopeId: string, members: Members): void {
    const project = this.#projects.opened(projectId);
    project.setScope(scopeId, members);
    this.publish({ type: "scope", projectId, scopeId, members: project.members(scopeId) });
  }

  dropScope(projectId: string, scopeId: string): void {
    if (this.#projects.get(projectId)?.dropScope(scopeId) !== true) return;
    this.publish({ type: "scope-dropped", projectId, scopeId });
  }

  moveNumbers(projectId: string, numbers: ReadonlyMap<number, number>): void {
    this.#projects.opened(projectId).renumber((number) => numbers.get(number) ?? number);
  }

  renumber(projectId: string, { numbers }: Renumbering): void {
    this.#projects.opened(projectId).renumber((number) => numbers[number] as number);
  }

  maintain(projectId: string): MaintenanceState {
    const project = this.#projects.get(projectId);
    return project !== undefined && this.#mergeNext(projectId, project) ? "more" : "done";
  }

  async settle(projectId: string): Promise<void> {
    const project = this.#projects.get(projectId);
    project?.stopGrowing();
    const until = performance.now() + TEXT_SETTLE_MAX_MS;
    while (project !== undefined && this.#projects.get(projectId) === project) {
      const left = until - performance.now();
      if (left <= 0) return;
      const hasChanged = this.#mergeNext(projectId, project);
      const running = this.#maintenance.running(project);
      if (running !== undefined) await Promise.race([running, Bun.sleep(left)]);
      else if (!hasChanged) return;
    }
  }

  /** Finishes or starts a merge, and publishes the changes. False without a change. */
  #mergeNext(projectId: string, project: TextProject, whileAdding = false): boolean {
    const merged = this.#nextMerge(projectId, project, whileAdding);
    if (merged === null) return false;
    const { added, removed, scopeIds } = merged;
    this.publish({
      type: "segments",
      projectId,
      add: added === null ? [] : [shared(added)],
      remove: removed,
      scopes: scopeIds.map((scopeId) => ({ scopeId, members: project.members(scopeId) })),
    });
    return true;
  }

  #nextMerge(projectId: string, project: TextProject, whileAdding: boolean): Merged | null {
    try {
      return this.#maintenance.next(project, whileAdding);
    } catch (error) {
      this.onFailed(projectId, error);
      return null;
    }
  }

  snapshot(projectId: string, writer: PartWriter): Promise<readonly Part[]> {
    return writeTextSnapshot(this.#projects.opened(projectId), writer);
  }

  async restore(projectId: string, table: VersionTable, reader: PartReader): Promise<void> {
    const project = new TextProject(table);
    await readTextSnapshot(project, reader);
    table.restored(project.versions);
    this.#projects.set(projectId, project);
    const add = [...project.segments.values()].map(shared);
    this.publish({ type: "segments", projectId, add, remove: [], scopes: [] });
    for (const [scopeId, set] of table.scopes) {
      timed("restore a scope", () => {
        this.setScope(projectId, scopeId, { numbers: numbersIn(set), chunks: null });
      });
      await Bun.sleep(0);
    }
  }

  stats(projectId: string): readonly IndexPart[] {
    const project = this.#projects.get(projectId);
    if (project === undefined) return [];
    let entries = 0;
    let bytes = 0;
    for (const { segment } of project.segments.values()) {
      entries += segment.documentCount;
      bytes += segment.buffer.byteLength;
    }
    return [{ dimension: 0, entries, maintained: entries, settled: true, bytes }];
  }

  #addSegment(projectId: string, project: TextProject, buffer: SharedArrayBuffer): void {
    const key = crypto.randomUUID();
    project.grow(key, new SegmentReader(buffer));
    this.publish({ type: "segments", projectId, add: [{ key, buffer }], remove: [], scopes: [] });
  }
}

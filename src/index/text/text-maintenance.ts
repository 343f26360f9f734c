import { timed } from "../../ops/observability/long-tasks.ts";
import type { MergedSegment } from "../segments/index.ts";
import { runSegmentTask, type SegmentTask } from "./segment-task.ts";
import { SegmentThreads } from "./segment-threads.ts";
import type { TextMerge } from "./text-merge.ts";
import type { Merged, TextProject } from "./text-project.ts";

/** Smaller merges run on the indexing thread itself. */
const TEXT_MERGE_INLINE_BYTES = 262_144;
/** Merges of the background yield to everything else: documents can be found before they are merged. */
const TEXT_MERGE_NICENESS = 10;
/** Pause of a project after a merge of its segments has failed. */
const TEXT_MERGE_RETRY_MS = 5_000;

interface Running {
  readonly merge: TextMerge;
  /** Resolves when the merge has ended, also when it has failed. */
  readonly ended: Promise<void>;
  /** Undefined until the merge has ended. */
  result: PromiseSettledResult<MergedSegment> | undefined;
}

/** Runs a merge on another thread. */
interface MergeRunner {
  run(task: SegmentTask): Promise<MergedSegment>;
}

function taskOf({ parts, keep }: TextMerge): SegmentTask {
  const inputs = parts.map(({ segment }, i) => ({
    buffer: segment.buffer as SharedArrayBuffer,
    keep: keep[i] as Uint32Array,
  }));
  return { kind: "merge", inputs };
}

function mergeNow(project: TextProject, merge: TextMerge): Merged | null {
  try {
    return project.finishMerge(merge, runSegmentTask(taskOf(merge)));
  } catch (error) {
    project.abandonMerge(merge);
    throw error;
  }
}

/** The merges of projects by one runner, at most one of each. */
class Lane {
  readonly running = new WeakMap<TextProject, Running>();

  constructor(
    readonly threads: MergeRunner,
    readonly whileAdding: boolean,
  ) {}
}

/**
 * Merges the segments of projects: small ones immediately, larger ones on another thread. While documents are added,
 * the threads that build segments also merge them, because a lookup takes twice as long in forty small segments as in
 * six, and merges that yield would start after the last document.
 */
export class TextMaintenance {
  readonly #adding: Lane;
  readonly #background: Lane;
  /** When the next merge of a project may begin whose last one has failed. */
  readonly #restsUntil = new WeakMap<TextProject, number>();

  /** @param builders the threads that build segments */
  constructor(
    builders: MergeRunner,
    threads: MergeRunner = new SegmentThreads(1, TEXT_MERGE_NICENESS),
    private readonly retryMs = TEXT_MERGE_RETRY_MS,
  ) {
    this.#adding = new Lane(builders, true);
    this.#background = new Lane(threads, false);
  }

  /**
   * Finishes a merge of the project that has ended, or starts one that is due. Returns the changes; null without a
   * change. Throws if a merge has failed, and starts it again after `retryMs`. The project is then unchanged, and
   * searches use its unmerged segments.
   *
   * @param whileAdding true to start only merges of small segments that keep all documents
   */
  next(project: TextProject, whileAdding = false): Merged | null {
    const lane = whileAdding ? this.#adding : this.#background;
    try {
      return this.#finish(this.#adding, project) ?? this.#finishOrBegin(lane, project);
    } catch (error) {
      this.#restsUntil.set(project, performance.now() + this.retryMs);
      throw error;
    }
  }

  /** Resolves when the running merges of the project have ended; undefined without a running merge. */
  running(project: TextProject): Promise<unknown> | undefined {
    const merges = [this.#adding, this.#background].flatMap(
      ({ running }) => running.get(project) ?? [],
    );
    return merges.length === 0 ? undefined : Promise.all(merges.map(({ ended }) => ended));
  }

  #finishOrBegin(lane: Lane, project: TextProject): Merged | null {
    return lane.running.has(project) ? this.#finish(lane, project) : this.#begin(lane, project);
  }

  #finish({ running }: Lane, project: TextProject): Merged | null {
    const { merge, result } = running.get(project) ?? {};
    if (merge === undefined || result === undefined) return null;
    running.delete(project);
    if (result.status === "fulfilled") {
      return timed("finish a merge", () => project.finishMerge(merge, result.value));
    }
    project.abandonMerge(merge);
    throw result.reason;
  }

  #begin({ threads, running, whileAdding }: Lane, project: TextProject): Merged | null {
    if (performance.now() < (this.#restsUntil.get(project) ?? 0)) return null;
    const merge = project.beginMerge(whileAdding);
    if (merge === null) return null;
    const bytes = merge.parts.reduce((sum, part) => sum + part.segment.buffer.byteLength, 0);
    if (bytes <= TEXT_MERGE_INLINE_BYTES)
      return timed("merge segments", () => mergeNow(project, merge));
    const ended = Promise.allSettled([threads.run(taskOf(merge))]).then(([result]) => {
      entry.result = result;
    });
    const entry: Running = { merge, ended, result: undefined };
    running.set(project, entry);
    return null;
  }
}

import { timed } from "../../../observability/long-tasks.ts";
import type { MergedSegment } from "../../text/index.ts";
import { runSegmentTask, type SegmentTask } from "./segment-task.ts";
import { SegmentThreads } from "./segment-threads.ts";
import type { TextMerge } from "./text-merge.ts";
import type { Merged, TextProject } from "./text-project.ts";

/** Smaller merges run on the indexing thread itself. */
const TEXT_MERGE_INLINE_BYTES = 262_144;
/** Merges yield to everything else: documents can be found before they are merged. */
const TEXT_MERGE_NICENESS = 10;
/** Pause of a project after a merge of its segments has failed. */
const TEXT_MERGE_RETRY_MS = 5_000;

interface Running {
  readonly merge: TextMerge;
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

/** Merges the segments of projects: small ones at once, larger ones on a thread next to this one. */
export class TextMaintenance {
  readonly #running = new WeakMap<TextProject, Running>();
  /** When the next merge of a project may begin whose last one has failed. */
  readonly #restsUntil = new WeakMap<TextProject, number>();

  constructor(
    private readonly threads: MergeRunner = new SegmentThreads(1, TEXT_MERGE_NICENESS),
    private readonly retryMs = TEXT_MERGE_RETRY_MS,
  ) {}

  /**
   * Finishes a merge of the project that has ended, or begins one that is due. Returns what has
   * changed; null when nothing has. Throws when a merge has failed, and begins it again after
   * `retryMs`: the project remains as it was, and its segments can be searched unmerged.
   */
  next(project: TextProject): Merged | null {
    const running = this.#running.get(project);
    try {
      return running === undefined ? this.#begin(project) : this.#finish(project, running);
    } catch (error) {
      this.#restsUntil.set(project, performance.now() + this.retryMs);
      throw error;
    }
  }

  #finish(project: TextProject, { merge, result }: Running): Merged | null {
    if (result === undefined) return null;
    this.#running.delete(project);
    if (result.status === "rejected") throw result.reason;
    return timed("finish a merge", () => project.finishMerge(merge, result.value));
  }

  #begin(project: TextProject): Merged | null {
    if (performance.now() < (this.#restsUntil.get(project) ?? 0)) return null;
    const merge = project.beginMerge();
    if (merge === null) return null;
    const task = taskOf(merge);
    const bytes = merge.parts.reduce((sum, part) => sum + part.segment.buffer.byteLength, 0);
    if (bytes <= TEXT_MERGE_INLINE_BYTES) {
      return timed("merge segments", () => project.finishMerge(merge, runSegmentTask(task)));
    }
    const running: Running = { merge, result: undefined };
    this.#running.set(project, running);
    void Promise.allSettled([this.threads.run(task)]).then(([result]) => {
      running.result = result;
    });
    return null;
  }
}

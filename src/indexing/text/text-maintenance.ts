import { timed } from "../../observability/long-tasks.ts";
import { TEXT_MERGE_INLINE_BYTES, TEXT_MERGE_NICENESS } from "../../shared/limits.ts";
import type { MergedSegment } from "../../text/index.ts";
import { runSegmentTask, type SegmentTask } from "./segment-task.ts";
import { SegmentThreads } from "./segment-threads.ts";
import type { TextMerge } from "./text-merge.ts";
import type { Merged, TextProject } from "./text-project.ts";

interface Running {
  readonly merge: TextMerge;
  /** Null when the merge has failed; undefined until it has ended. */
  result: MergedSegment | null | undefined;
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
  readonly #threads = new SegmentThreads(1, TEXT_MERGE_NICENESS);
  readonly #running = new WeakMap<TextProject, Running>();

  /**
   * Finishes a merge of the project that has ended, or begins one that is due. Returns what has
   * changed; null when nothing has.
   */
  next(project: TextProject): Merged | null {
    const running = this.#running.get(project);
    if (running === undefined) return this.#begin(project);
    const { merge, result } = running;
    if (result === undefined) return null;
    this.#running.delete(project);
    // A merge that failed is tried again, because it is still due.
    if (result === null) return null;
    return timed("finish a merge", () => project.finishMerge(merge, result));
  }

  #begin(project: TextProject): Merged | null {
    const merge = project.beginMerge();
    if (merge === null) return null;
    const task = taskOf(merge);
    const bytes = merge.parts.reduce((sum, part) => sum + part.segment.buffer.byteLength, 0);
    if (bytes <= TEXT_MERGE_INLINE_BYTES) {
      return timed("merge segments", () => project.finishMerge(merge, runSegmentTask(task)));
    }
    const running: Running = { merge, result: undefined };
    this.#running.set(project, running);
    const end = (result: MergedSegment | null) => {
      running.result = result;
    };
    this.#threads.run(task).then(end, () => end(null));
    return null;
  }
}

import type { ThreadProtocol } from "../../ops/threads/protocol.ts";
import { type MergedSegment, mergeSegments } from "../segments/index.ts";
import { buildFromRows, type TextRow } from "./build-from-rows.ts";

/** Makes a segment of Markdown files, or of the documents to keep of other segments. */
export type SegmentTask =
  | { readonly kind: "build"; readonly rows: readonly TextRow[] }
  | {
      readonly kind: "merge";
      readonly inputs: ReadonlyArray<{ buffer: SharedArrayBuffer; keep: Uint32Array }>;
    };

export interface SegmentProtocol extends ThreadProtocol {
  readonly options: { readonly niceness: number };
  readonly task: SegmentTask;
  readonly result: MergedSegment | { readonly failure: string };
}

/** Runs a task on this thread. A built segment has no `numbers`. */
export function runSegmentTask(task: SegmentTask): MergedSegment {
  if (task.kind === "merge") return mergeSegments(task.inputs);
  return { buffer: buildFromRows(task.rows), numbers: [] };
}

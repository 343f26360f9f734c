import * as native from "../../../native/text.ts";
import type { DocumentSet } from "./document-set.ts";

/** Indexes documents. A `SegmentReader` reads the result, in this or any other thread. */
export function buildSegment(documents: readonly native.KnowledgeDocument[]): SharedArrayBuffer {
  return written((memory) => native.buildSegment(documents, memory)).buffer;
}

/** A segment, and the documents to keep. */
interface MergeInput {
  readonly buffer: ArrayBufferLike;
  readonly keep: DocumentSet;
}

export interface MergedSegment {
  readonly buffer: SharedArrayBuffer;
  /** By input and document: the number in the merged segment; -1 for a document that was left out. */
  readonly numbers: Int32Array[];
}

/**
 * Merges segments into one without the original documents. If two inputs hold the same document id,
 * the first wins.
 */
export function mergeSegments(inputs: readonly MergeInput[]): MergedSegment {
  const segments = inputs.map(({ buffer }) => new Uint8Array(buffer));
  const kept = inputs.map(({ keep }) => keep);
  const { buffer, result } = written((memory) => native.mergeSegments(segments, kept, memory));
  return { buffer, numbers: result };
}

/** The buffer of a segment that is written, and the result of writing it. */
function written<Result>(write: (memory: native.SegmentMemory) => Result) {
  let buffer = new SharedArrayBuffer(0);
  const result = write((bytes) => {
    buffer = new SharedArrayBuffer(bytes);
    return new Uint8Array(buffer);
  });
  return { buffer, result };
}

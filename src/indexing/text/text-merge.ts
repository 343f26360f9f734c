import { addDocument, nextDocument, type SegmentReader } from "../../text/index.ts";
import {
  documentBits,
  type ScopeDocuments,
  sharedDocumentSet,
  type TextSegment,
} from "./text-segment.ts";

/** Segments to be merged. The project does not change until the merge is finished. */
export interface TextMerge {
  readonly parts: readonly TextSegment[];
  /** The documents to keep of each part. */
  readonly keep: readonly Uint32Array[];
}

/** New document numbers, by part and old number; -1 for documents that were left out. */
type Renumbering = readonly Int32Array[];

export function beginMerge(parts: readonly TextSegment[]): TextMerge {
  const keep = parts.map(({ segment, deleted }) =>
    deleted.map((word, w) => ~word & documentBits(segment, w)),
  );
  return { parts, keep };
}

/** True when a document that the merge has left out is in a scope again. */
export function isOutdated({ parts, keep }: TextMerge): boolean {
  return parts.some(({ segment, deleted }, i) => {
    const kept = keep[i] as Uint32Array;
    return deleted.some(
      (word, w) => (~word & ~(kept[w] as number) & documentBits(segment, w)) !== 0,
    );
  });
}

/** Copies documents of a part to the merged segment under their new numbers. */
function renumber(
  documents: Uint32Array,
  { documentCount }: SegmentReader,
  numbers: Int32Array,
  into: Uint32Array,
): void {
  let document = nextDocument(documents, 0, documentCount);
  while (document < documentCount) {
    const number = numbers[document] as number;
    if (number >= 0) addDocument(into, number);
    document = nextDocument(documents, document + 1, documentCount);
  }
}

/** Marks documents of the merged segment that were deleted while it was built. */
export function carryDeleted(
  { parts }: TextMerge,
  numbers: Renumbering,
  merged: TextSegment,
): void {
  for (const [i, { deleted, segment }] of parts.entries()) {
    renumber(deleted, segment, numbers[i] as Int32Array, merged.deleted);
  }
}

/** A scope after the parts were replaced by the merged segment. */
export function mergedScope(
  scope: ScopeDocuments,
  { parts }: TextMerge,
  numbers: Renumbering,
  merged: TextSegment,
): ScopeDocuments {
  const after = new Map(scope);
  for (const part of parts) after.delete(part.key);
  const documents = sharedDocumentSet(merged.segment.documentCount);
  for (const [i, { key, segment }] of parts.entries()) {
    const before = scope.get(key);
    if (before !== undefined) renumber(before, segment, numbers[i] as Int32Array, documents);
  }
  return after.set(merged.key, documents);
}

import {
  addDocument,
  countDocuments,
  mergeInSteps,
  nextDocument,
  type SegmentReader,
} from "../../text/index.ts";
import {
  documentBits,
  type ScopeDocuments,
  sharedDocumentSet,
  type TextSegment,
} from "./text-segment.ts";

/** A merge of segments that is under way. The project does not change until it is finished. */
export interface TextMerge {
  readonly parts: readonly TextSegment[];
  readonly inputs: ReadonlyArray<{ segment: SegmentReader; keep: Uint32Array }>;
  /** Returns the merged segment; null when no document is left. */
  readonly steps: Generator<void, SharedArrayBuffer | null, void>;
}

/** New document numbers, by part and old number; -1 for documents that were left out. */
export type Renumbering = ReadonlyArray<readonly number[]>;

export function beginMerge(parts: readonly TextSegment[]): TextMerge {
  const inputs = parts.map(({ segment, deleted }) => ({
    segment,
    keep: deleted.map((word, w) => ~word & documentBits(segment, w)),
  }));
  const hasDocuments = inputs.some(
    ({ segment, keep }) => countDocuments(keep, segment.documentCount) > 0,
  );
  return { parts, inputs, steps: hasDocuments ? mergeInSteps(inputs) : mergeOfNothing() };
}

// biome-ignore lint/correctness/useYield: there is nothing to do in steps.
function* mergeOfNothing(): Generator<void, null, void> {
  return null;
}

/** True when a document that the merge has left out is in a scope again. */
export function isOutdated({ parts, inputs }: TextMerge): boolean {
  return parts.some(({ segment, deleted }, i) => {
    const keep = inputs[i]?.keep as Uint32Array;
    return deleted.some(
      (word, w) => (~word & ~(keep[w] as number) & documentBits(segment, w)) !== 0,
    );
  });
}

/** Copies documents of the parts to the merged segment under their new numbers. */
function renumber(
  documents: Uint32Array,
  { documentCount }: SegmentReader,
  numbers: readonly number[],
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
    renumber(deleted, segment, numbers[i] as readonly number[], merged.deleted);
  }
}

/** A scope after the parts were replaced by the merged segment. */
export function mergedScope(
  scope: ScopeDocuments,
  { parts }: TextMerge,
  numbers: Renumbering,
  merged: TextSegment | null,
): ScopeDocuments {
  const after = new Map(scope);
  for (const part of parts) after.delete(part.key);
  if (merged === null) return after;
  const documents = sharedDocumentSet(merged.segment.documentCount);
  for (const [i, { key, segment }] of parts.entries()) {
    const before = scope.get(key);
    if (before !== undefined) {
      renumber(before, segment, numbers[i] as readonly number[], documents);
    }
  }
  return after.set(merged.key, documents);
}

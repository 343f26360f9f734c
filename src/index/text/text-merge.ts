import { addDocument, emptyDocumentSet } from "../segments/index.ts";
import { numbersIn } from "../versions/number-set.ts";
import { FORGOTTEN } from "../versions/version-table.ts";
import { type ScopeDocuments, sharedDocumentSet, type TextSegment } from "./text-segment.ts";

/** Segments to be merged. The project does not change until the merge is finished. */
export interface TextMerge {
  readonly parts: readonly TextSegment[];
  /** The documents to keep of each part. No scope will hold others again. */
  readonly keep: readonly Uint32Array[];
}

/** New document numbers, by part and old number; -1 for documents that were left out. */
type Renumbering = readonly Int32Array[];

export function beginMerge(parts: readonly TextSegment[]): TextMerge {
  const keep = parts.map(({ numbers }) => {
    const kept = emptyDocumentSet(numbers.length);
    for (const [document, number] of numbers.entries()) {
      if (number !== FORGOTTEN) addDocument(kept, document);
    }
    return kept;
  });
  return { parts, keep };
}

/** The versions of the documents of the merged segment, which may have been forgotten while it was built. */
export function mergedNumbers(
  { parts }: TextMerge,
  documents: Renumbering,
  count: number,
): Uint32Array {
  const merged = new Uint32Array(count);
  for (const [i, { numbers }] of parts.entries()) {
    for (const [before, after] of (documents[i] as Int32Array).entries()) {
      if (after >= 0) merged[after] = numbers[before] as number;
    }
  }
  return merged;
}

/** A scope after the parts were replaced by the merged segment. */
export function mergedScope(
  scope: ScopeDocuments,
  { parts }: TextMerge,
  numbers: Renumbering,
  { key, numbers: { length } }: TextSegment,
): ScopeDocuments {
  const after = new Map(scope);
  const documents = sharedDocumentSet(length);
  for (const [i, part] of parts.entries()) {
    const before = scope.get(part.key);
    after.delete(part.key);
    if (before === undefined) continue;
    for (const document of numbersIn(before)) {
      const number = (numbers[i] as Int32Array)[document] as number;
      if (number >= 0) addDocument(documents, number);
    }
  }
  return after.set(key, documents);
}

import {
  addDocument,
  emptyDocumentSet,
  hasDocument,
  type SegmentReader,
} from "../segments/index.ts";
import type { NumberSet } from "../versions/number-set.ts";
import { FORGOTTEN } from "../versions/version-table.ts";

/** A segment of a project. */
export interface TextSegment {
  readonly key: string;
  readonly segment: SegmentReader;
  /** For each document the number of its version, or FORGOTTEN. */
  readonly numbers: Uint32Array;
  /** Documents whose versions were forgotten. */
  forgotten: number;
}

/** The documents of a scope, by segment key. The sets are in shared memory. */
export type ScopeDocuments = ReadonlyMap<string, Uint32Array>;

/** An empty set of documents in shared memory. */
export function sharedDocumentSet(documentCount: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(emptyDocumentSet(documentCount).byteLength));
}

/** The documents of these versions, in shared memory; undefined without any. */
export function documentsOf(
  { numbers }: TextSegment,
  versions: NumberSet,
): Uint32Array | undefined {
  let documents: Uint32Array | undefined;
  for (let document = 0; document < numbers.length; document++) {
    if (!hasDocument(versions, numbers[document] as number)) continue;
    documents ??= sharedDocumentSet(numbers.length);
    addDocument(documents, document);
  }
  return documents;
}

/** How many of some documents are of versions that were forgotten. */
export function forgottenOf(numbers: Uint32Array): number {
  let count = 0;
  for (const number of numbers) if (number === FORGOTTEN) count++;
  return count;
}

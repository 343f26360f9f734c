import { emptyDocumentSet, type SegmentReader } from "../../text/index.ts";

/** Where a file version is. A merge moves it. */
export interface Address {
  entry: TextSegment;
  document: number;
}

/** A segment of a project. */
export interface TextSegment {
  readonly key: string;
  readonly segment: SegmentReader;
  /** Documents that all scopes have dropped. New documents that no scope holds yet are not deleted. */
  readonly deleted: Uint32Array;
  /** The address of the version of each document. */
  readonly addresses: Address[];
}

/** The documents of a scope, by segment key. The sets are in shared memory. */
export type ScopeDocuments = ReadonlyMap<string, Uint32Array>;

/** An empty set of documents in shared memory. */
export function sharedDocumentSet(documentCount: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(emptyDocumentSet(documentCount).byteLength));
}

/** A mask of the bits of a word that represent documents. The last word may have unused bits. */
export function documentBits(segment: SegmentReader, word: number): number {
  const rest = segment.documentCount - word * 32;
  return rest >= 32 ? -1 : (1 << rest) - 1;
}

import { type DocumentSet, hasDocument } from "./document-set.ts";
import { BREAK, FIELD, MARK, SUBWORDS } from "./format.ts";
import type { SegmentReader } from "./reader.ts";
import {
  DOCUMENTS_PER_STEP,
  Interner,
  runToEnd,
  type StagedDocument,
  type Steps,
} from "./staging.ts";
import { writeSegment } from "./write-segment.ts";

/** A segment and the documents of it to keep. */
interface MergeInput {
  readonly segment: SegmentReader;
  readonly keep: DocumentSet;
}

/**
 * Merges segments into one without the documents' text. If two inputs hold the same document id,
 * the first wins.
 */
export function mergeSegments(inputs: readonly MergeInput[]): SharedArrayBuffer {
  return runToEnd(mergeInSteps(inputs));
}

/** Like `mergeSegments`, in steps of a few milliseconds. The `keep` sets must not change meanwhile. */
export function* mergeInSteps(inputs: readonly MergeInput[]): Steps<SharedArrayBuffer> {
  const terms = new Interner();
  const keys = new Interner();
  const documents: StagedDocument[] = [];
  const seen = new Set<string>();
  for (const { segment, keep } of inputs) {
    const renumber = renumbering(segment, terms, keys);
    for (let document = 0; document < segment.documentCount; document++) {
      if (!hasDocument(keep, document)) continue;
      const id = segment.id(document);
      if (seen.has(id)) continue;
      seen.add(id);
      if (seen.size % DOCUMENTS_PER_STEP === 0) yield;
      documents.push({
        id,
        path: Buffer.from(segment.pathBytes(document)),
        title: segment.title(document),
        frontmatter: segment.frontmatterJson(document),
        tokens: segment.tokensOf(document).map(renumber),
        blocks: segment.blocksOf(document).map(({ firstToken, bytes }) => ({
          firstToken,
          bytes: Uint8Array.from(bytes),
        })),
      });
    }
  }
  return yield* writeSegment({ documents, terms: terms.strings, keys: keys.strings });
}

/** Maps a segment's tokens and marks to the common numbers, interning terms as they occur. */
function renumbering(
  segment: SegmentReader,
  terms: Interner,
  keys: Interner,
): (token: number) => number {
  const unknown = 0xffffffff;
  const numbers = new Uint32Array(segment.termCount).fill(unknown);
  const keyMarks = segment.keys.map((key) => MARK + FIELD.firstKey + keys.intern(key));
  return (token) => {
    if (token === BREAK || token === SUBWORDS) return token;
    if (token >= MARK) return keyMarks[token - MARK - FIELD.firstKey] ?? token;
    let number = numbers[token] as number;
    if (number === unknown) {
      number = terms.intern(segment.term(token));
      numbers[token] = number;
    }
    return number;
  };
}

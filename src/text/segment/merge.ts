import { Numbering } from "./build.ts";
import { type DocumentSet, hasDocument } from "./document-set.ts";
import { BREAK, FIELD, MARK, PARTS } from "./format.ts";
import type { SegmentReader } from "./reader.ts";
import { DOCUMENTS_A_STEP, finish, type StagedDocument, writeInSteps } from "./writer.ts";

/** A segment, with the documents of it to keep (`null`: all). */
export interface MergeInput {
  readonly segment: SegmentReader;
  readonly keep: DocumentSet;
}

/**
 * Joins segments into one, without their documents' text. Where two parts hold the same document
 * id, the first wins.
 */
export function mergeSegments(parts: readonly MergeInput[]): SharedArrayBuffer {
  return finish(mergeInSteps(parts));
}

/** As `mergeSegments`, in steps of some milliseconds. The scopes must not change meanwhile. */
export function* mergeInSteps(
  parts: readonly MergeInput[],
): Generator<void, SharedArrayBuffer, void> {
  const terms = new Numbering();
  const keys = new Numbering();
  const documents: StagedDocument[] = [];
  const taken = new Set<string>();
  for (const { segment, keep } of parts) {
    const renumber = renumbering(segment, terms, keys);
    for (let document = 0; document < segment.documentCount; document++) {
      if (!hasDocument(keep, document)) continue;
      const id = segment.id(document);
      if (taken.has(id)) continue;
      taken.add(id);
      if (taken.size % DOCUMENTS_A_STEP === 0) yield;
      documents.push({
        id,
        path: Buffer.from(segment.pathBytes(document)),
        title: segment.title(document),
        frontmatter: segment.frontmatterJson(document),
        words: segment.wordsOf(document).map(renumber),
      });
    }
  }
  return yield* writeInSteps({ documents, terms: terms.names, keys: keys.names });
}

/** Maps a segment's words and marks to the common numbers, numbering each term when it is met. */
function renumbering(
  segment: SegmentReader,
  terms: Numbering,
  keys: Numbering,
): (word: number) => number {
  const unknown = 0xffffffff;
  const numbers = new Uint32Array(segment.termCount).fill(unknown);
  const keyMarks = segment.keys.map((key) => MARK + FIELD.firstKey + keys.numberOf(key));
  return (word) => {
    if (word === BREAK || word === PARTS) return word;
    if (word >= MARK) return keyMarks[word - MARK - FIELD.firstKey] ?? word;
    let number = numbers[word] as number;
    if (number === unknown) {
      number = terms.numberOf(segment.term(word));
      numbers[word] = number;
    }
    return number;
  };
}

import { inScope } from "./bitset.ts";
import { Numbering } from "./build.ts";
import { BREAK, FIELD, MARK, PARTS } from "./format.ts";
import type { OpenSegment } from "./segment.ts";
import type { Scope } from "./types.ts";
import { type StagedDocument, writeSegment } from "./writer.ts";

/**
 * Joins segments into one, without their documents' text. Where two parts hold the same document
 * id, the first wins.
 *
 * @param parts segments, each with the documents to keep (`null`: all)
 */
export function mergeSegments(
  parts: ReadonlyArray<{ segment: OpenSegment; keep: Scope }>,
): SharedArrayBuffer {
  const terms = new Numbering();
  const keys = new Numbering();
  const documents: StagedDocument[] = [];
  const taken = new Set<string>();
  for (const { segment, keep } of parts) {
    const renumber = renumbering(segment, terms, keys);
    for (let document = 0; document < segment.documentCount; document++) {
      if (!inScope(keep, document)) continue;
      const id = segment.id(document);
      if (taken.has(id)) continue;
      taken.add(id);
      documents.push({
        id,
        path: Buffer.from(segment.pathBytes(document)),
        title: segment.title(document),
        frontmatter: segment.frontmatterJson(document),
        words: segment.wordsOf(document).map(renumber),
      });
    }
  }
  return writeSegment({ documents, terms: terms.names, keys: keys.names });
}

/** Maps a segment's words and marks to the common numbers, numbering each term when it is met. */
function renumbering(
  segment: OpenSegment,
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

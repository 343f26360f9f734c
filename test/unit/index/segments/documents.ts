import fc from "fast-check";
import {
  addDocument,
  buildSegment,
  emptyDocumentSet,
  type KnowledgeDocument,
} from "../../../../src/index/segments/index.ts";
import { contentsOf } from "../../../../support/segment-contents.ts";
import type { TextView } from "../../../../support/text-search.ts";

/** A document with the given fields; all others are empty. */
export function documentOf(
  path: string,
  fields: Partial<Omit<KnowledgeDocument, "path">> = {},
): KnowledgeDocument {
  return { id: path, path, title: "", headings: [], frontmatter: [], content: "", ...fields };
}

/** All documents in one segment, all in scope. */
export function viewOf(documents: readonly KnowledgeDocument[]): TextView {
  return { segments: [contentsOf(buildSegment(documents))], documentSets: [null] };
}

/** Documents distributed over several segments; `inScope` selects paths. */
export function dealtView(
  documents: readonly KnowledgeDocument[],
  segmentOf: (index: number) => number,
  inScope: (path: string) => boolean,
): TextView {
  const hands: KnowledgeDocument[][] = [];
  documents.forEach((document, i) => {
    const hand = segmentOf(i);
    hands[hand] ??= [];
    hands[hand].push(document);
  });
  const segments = [...hands].map((hand) => contentsOf(buildSegment(hand ?? [])));
  const documentSets = segments.map((segment) => {
    const set = emptyDocumentSet(segment.documentCount);
    for (let d = 0; d < segment.documentCount; d++) {
      if (inScope(segment.path(d))) addDocument(set, d);
    }
    return set;
  });
  return { segments, documentSets };
}

export function byteOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

const VOCABULARY = (
  "anchor basket candle dragon engine forest garden harbor island jacket kitchen lantern magnet " +
  "needle orchid pepper quartz ribbon saddle temple ﬁnal größe 検索 データ 🚀 the of"
).split(" ");

export const words = (maxLength: number) =>
  fc.array(fc.constantFrom(...VOCABULARY), { maxLength }).map((list) => list.join(" "));

const path = fc
  .array(fc.constantFrom("a", "b", "é", "ｚ", "𝒳", "-", "z/", "A/"), { minLength: 1, maxLength: 6 })
  .map((parts) => `${parts.join("")}.md`);

/** Documents with distinct paths and a small common vocabulary. */
export const someDocuments: fc.Arbitrary<KnowledgeDocument[]> = fc.uniqueArray(
  fc
    .record({
      path,
      title: words(3),
      headings: fc.array(words(3), { maxLength: 3 }),
      frontmatter: fc.array(
        fc.record({ key: fc.constantFrom("description", "tags", "owner"), value: words(4) }),
        { maxLength: 2 },
      ),
      content: words(20),
    })
    .map((fields) => ({ id: `id of ${fields.path}`, ...fields })),
  { selector: (document) => document.path, maxLength: 24 },
);

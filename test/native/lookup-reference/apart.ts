/** Words that documents write apart, without haste: every document is read. */
import type { AnalysedWord } from "../../../native/testing.ts";
import { hasDocument } from "../../../src/index/segments/index.ts";
import {
  MARK,
  POSTING_CODE_MASK,
  POSTING_DOCUMENT_SHIFT,
  type SegmentContents,
  SUBWORDS,
} from "../../../support/segment-contents.ts";
import type { TextView } from "../../../support/text-search.ts";

/** What is known of the terms of a view. */
interface Terms {
  readonly view: TextView;
  /** Whether all documents are in English. */
  readonly isEnglish: boolean;
  termOf(segment: number, text: string): number | undefined;
  formsOf(text: string, raw: string): ReadonlyArray<{ segment: number; term: number }>;
}

/** Terms of a segment that are the parts of a word and follow each other in documents. */
export interface ApartMatch {
  readonly terms: readonly number[];
  /** By document, the code of the frequency of the rarest of them there. */
  readonly codes: ReadonlyMap<number, number>;
  /** The number of the documents. */
  readonly frequency: number;
}

/** The frequencies that a code stands for; see `frequency_code.cc`. */
export function frequenciesOf(code: number) {
  const low = code & 31;
  const content = low <= 16 ? low : 16 * 1.25 ** (low - 16);
  return { content, fields: 0.05 * (Math.exp((code >>> 5) / 18) - 1) };
}

const total = (code: number) => {
  const { content, fields } = frequenciesOf(code);
  return content + fields;
};

const placesOf = (bits: number) =>
  Array.from({ length: 32 }, (_, i) => i).filter((i) => ((bits >>> i) & 1) === 1);

/** The ways to cut a word. */
function cutsOf(word: AnalysedWord, isEnglish: boolean): string[][] {
  const { text } = word;
  const pairs = [...placesOf(word.pairs), ...(isEnglish ? placesOf(word.englishPairs) : [])];
  const parts = placesOf(word.parts);
  const isPair = parts.length === 0 || (parts.length === 1 && pairs.includes(parts[0] as number));
  return [...pairs.map((place) => [place]), ...(isPair ? [] : [parts])].map((places) => {
    const starts = [0, ...places];
    return starts.map((start, i) => text.slice(start, starts[i + 1]));
  });
}

export function apartIn(word: AnalysedWord, vocabulary: Terms): ApartMatch[][] {
  const { segments, documentSets } = vocabulary.view;
  const cuts = cutsOf(word, vocabulary.isEnglish).map((parts) => {
    const last = parts.at(-1) as string;
    return { heads: parts.slice(0, -1), lasts: vocabulary.formsOf(last, last) };
  });
  return segments.map((segment, s) => {
    const inScope = (document: number) => hasDocument(documentSets[s] ?? null, document);
    return cuts.flatMap(({ heads, lasts }) => {
      const first = heads.flatMap((head) => vocabulary.termOf(s, head) ?? []);
      if (first.length < heads.length) return [];
      const own = lasts.filter((last) => last.segment === s).map(({ term }) => [...first, term]);
      return own.flatMap((terms) => {
        const codes = codesOf(segment, terms, inScope);
        return codes.size === 0 ? [] : [{ terms, codes, frequency: codes.size }];
      });
    });
  });
}

function codesOf(
  segment: SegmentContents,
  terms: readonly number[],
  inScope: (document: number) => boolean,
): Map<number, number> {
  const { tokens, tokenStart, postings, postingStart } = segment;
  const codes = new Map<number, number>();
  for (let d = 0; d < segment.documentCount; d++) {
    if (!inScope(d)) continue;
    const own = [...tokens.subarray(tokenStart[d], tokenStart[d + 1])];
    const isSubword = (i: number) =>
      own.findLast((token, k) => k < i && token >= MARK) === SUBWORDS;
    const isHere = own.some(
      (_, i) => terms.every((term, t) => own[i + t] === term) && !isSubword(i),
    );
    if (!isHere) continue;
    const ownCodes = terms.map((term) => {
      const list = postings.subarray(postingStart[term], postingStart[term + 1]);
      const posting = list.find((each) => each >>> POSTING_DOCUMENT_SHIFT === d) as number;
      return posting & POSTING_CODE_MASK;
    });
    codes.set(d, ownCodes.toSorted((a, b) => total(a) - total(b))[0] as number);
  }
  return codes;
}

import { stemTable } from "../../../native/text.ts";
import { assemble } from "./assemble.ts";
import { type DocumentSet, hasDocument } from "./document-set.ts";
import {
  FIELD,
  FIRST_INNER_MARK,
  MARK,
  POSTING_CODE_MASK,
  POSTING_DOCUMENT_SHIFT,
  SEGMENT_MAX_DOCUMENTS,
} from "./format.ts";
import { Interner } from "./interner.ts";
import { mergeSorted } from "./merge-sorted.ts";
import type { SegmentReader } from "./reader.ts";
import { sortTerms } from "./sort-terms.ts";

/** A segment, and the documents to keep. */
interface MergeInput {
  readonly segment: SegmentReader;
  readonly keep: DocumentSet;
}

export interface MergedSegment {
  readonly buffer: SharedArrayBuffer;
  /** By input and document: the number in the merged segment; -1 for a document that was left out. */
  readonly numbers: Int32Array[];
}

/** An input with the new numbers of its documents, terms and keys. */
interface Part extends MergeInput {
  /** The new number by document; -1 for a document that is left out. */
  readonly numbers: Int32Array;
  /** The new number by term; UNUSED for a term of documents that are left out only. */
  readonly terms: Uint32Array;
  /** The mark of each frontmatter key. */
  readonly keyMarks: number[];
}

interface Source {
  readonly part: Part;
  readonly document: number;
}

const UNUSED = 0xffffffff;

/**
 * Merges segments into one without the original documents. If two inputs hold the same document id,
 * the first wins. It copies tokens, postings and texts under new numbers, which takes a fraction of
 * the time of building the segment.
 */
export function mergeSegments(inputs: readonly MergeInput[]): MergedSegment {
  const keys = new Interner();
  const parts = inputs.map(({ segment, keep }) => ({
    segment,
    keep,
    numbers: new Int32Array(segment.documentCount).fill(-1),
    terms: new Uint32Array(segment.termCount).fill(UNUSED),
    keyMarks: segment.keys.map((key) => MARK + FIELD.firstKey + keys.intern(key)),
  }));
  const sources = mergeDocuments(parts);
  const { reversed, sorted, starts, chars } = mergeTerms(parts);
  const postings = mergePostings(parts, sorted.length);
  const languages = Uint8Array.from(
    sources,
    (at) => at.part.segment.languages[at.document] as number,
  );
  const buffer = assemble(sources.length, sorted.length, {
    ...joinStrings(sources, keys.strings),
    lengths: Uint32Array.from(sources, (at) => at.part.segment.lengths[at.document] as number),
    pathHashes: Uint32Array.from(sources, (at) => at.part.segment.pathHash(at.document)),
    ...joinTokens(sources),
    ...joinBlocks(sources),
    termStart: starts,
    termChars: chars,
    reversed,
    languages,
    ...stemTable({ languages, ...postings, forms: joinForms(parts) }),
    ...postings,
  });
  return { buffer, numbers: parts.map((part) => part.numbers) };
}

/** Numbers the documents to keep in the order of their paths and ids. */
function mergeDocuments(parts: readonly Part[]): Source[] {
  const lists = parts.map((part) => {
    const kept: Source[] = [];
    for (let document = 0; document < part.segment.documentCount; document++) {
      if (hasDocument(part.keep, document)) kept.push({ part, document });
    }
    return kept;
  });
  const sources: Source[] = [];
  for (const source of mergeSorted(lists, compareSources)) {
    const last = sources.at(-1);
    if (last !== undefined && compareSources(last, source) === 0) continue;
    source.part.numbers[source.document] = sources.length;
    sources.push(source);
  }
  if (sources.length > SEGMENT_MAX_DOCUMENTS) {
    throw new RangeError(`a segment holds at most ${SEGMENT_MAX_DOCUMENTS} documents`);
  }
  return sources;
}

/** The order of documents in a segment. */
function compareSources(a: Source, b: Source): number {
  const paths = Buffer.compare(
    a.part.segment.pathBytes(a.document),
    b.part.segment.pathBytes(b.document),
  );
  if (paths !== 0) return paths;
  const [first, second] = [a.part.segment.id(a.document), b.part.segment.id(b.document)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** Sorts the terms that kept documents hold, and numbers them in each part. */
function mergeTerms(parts: readonly Part[]) {
  const terms = new Interner();
  for (const { segment, numbers, terms: own } of parts) {
    const strings = segment.terms();
    const keepsAll = !numbers.includes(-1);
    for (let term = 0; term < segment.termCount; term++) {
      if (keepsAll || isHeld(segment, term, numbers)) {
        own[term] = terms.intern(strings[term] as string);
      }
    }
  }
  const merged = sortTerms(terms.strings);
  for (const { terms: own } of parts) {
    for (let term = 0; term < own.length; term++) {
      const number = own[term] as number;
      if (number !== UNUSED) own[term] = merged.rank[number] as number;
    }
  }
  return merged;
}

/** True if a kept document holds the term. */
function isHeld({ postings, postingStart }: SegmentReader, term: number, numbers: Int32Array) {
  for (let i = postingStart[term] as number; i < (postingStart[term + 1] as number); i++) {
    if ((numbers[(postings[i] as number) >>> POSTING_DOCUMENT_SHIFT] as number) >= 0) return true;
  }
  return false;
}

/** The postings of all parts under the new numbers. The postings of a term are in the order of documents. */
function mergePostings(parts: readonly Part[], terms: number) {
  const postingStart = new Uint32Array(terms + 1);
  eachPosting(parts, (term) => {
    postingStart[term + 1] = (postingStart[term + 1] as number) + 1;
  });
  for (let t = 0; t < terms; t++) {
    postingStart[t + 1] = (postingStart[t + 1] as number) + (postingStart[t] as number);
  }
  const next = postingStart.slice(0, terms);
  const postings = new Uint32Array(postingStart[terms] as number);
  const isSorted = new Uint8Array(terms).fill(1);
  eachPosting(parts, (term, posting) => {
    const at = next[term] as number;
    if (at > (postingStart[term] as number) && (postings[at - 1] as number) > posting) {
      isSorted[term] = 0;
    }
    postings[at] = posting;
    next[term] = at + 1;
  });
  for (let t = 0; t < terms; t++) {
    if (isSorted[t] === 0) postings.subarray(postingStart[t], postingStart[t + 1]).sort();
  }
  return { postingStart, postings };
}

/** Language, key and term of each form whose term a kept document holds, part by part. */
function joinForms(parts: readonly Part[]): Uint32Array {
  const most = parts.reduce((sum, { segment }) => sum + segment.stemKeys.length, 0);
  const forms = new Uint32Array(most * 3);
  let at = 0;
  for (const { segment, terms } of parts) {
    const { stemStart, stemKeys, stemTerms } = segment;
    let language = 0;
    for (let i = 0; i < stemKeys.length; i++) {
      while ((stemStart[language + 1] as number) <= i) language++;
      const term = terms[stemTerms[i] as number] as number;
      if (term === UNUSED) continue;
      forms[at++] = language;
      forms[at++] = stemKeys[i] as number;
      forms[at++] = term;
    }
  }
  return forms.subarray(0, at);
}

/** Visits the postings of kept documents, part by part. */
function eachPosting(parts: readonly Part[], visit: (term: number, posting: number) => void): void {
  for (const { segment, numbers, terms } of parts) {
    const { postings, postingStart } = segment;
    for (let t = 0; t < segment.termCount; t++) {
      const term = terms[t] as number;
      if (term === UNUSED) continue;
      for (let i = postingStart[t] as number; i < (postingStart[t + 1] as number); i++) {
        const posting = postings[i] as number;
        const document = numbers[posting >>> POSTING_DOCUMENT_SHIFT] as number;
        if (document < 0) continue;
        visit(term, ((document << POSTING_DOCUMENT_SHIFT) | (posting & POSTING_CODE_MASK)) >>> 0);
      }
    }
  }
}

function joinTokens(sources: readonly Source[]) {
  const tokenStart = new Uint32Array(sources.length + 1);
  sources.forEach(({ part, document }, i) => {
    const { tokenStart: own } = part.segment;
    const length = (own[document + 1] as number) - (own[document] as number);
    tokenStart[i + 1] = (tokenStart[i] as number) + length;
  });
  const tokens = new Uint32Array(tokenStart[sources.length] as number);
  let at = 0;
  for (const { part, document } of sources) {
    const { tokens: own, tokenStart: starts } = part.segment;
    const end = starts[document + 1] as number;
    for (let i = starts[document] as number; i < end; i++) {
      tokens[at++] = renumbered(own[i] as number, part);
    }
  }
  return { tokenStart, tokens };
}

function renumbered(token: number, { terms, keyMarks }: Part): number {
  if (token < MARK) return terms[token] as number;
  if (token >= FIRST_INNER_MARK) return token;
  return keyMarks[token - MARK - FIELD.firstKey] ?? token;
}

function joinBlocks(sources: readonly Source[]) {
  const blockStart = new Uint32Array(sources.length + 1);
  const blocks: number[] = [];
  const texts: Uint8Array[] = [];
  let length = 0;
  sources.forEach(({ part, document }, i) => {
    for (const { firstToken, bytes } of part.segment.blocksOf(document)) {
      blocks.push(length, firstToken);
      texts.push(bytes);
      length += bytes.length;
    }
    blockStart[i + 1] = texts.length;
  });
  return { blockStart, blocks: Uint32Array.from(blocks), texts: Buffer.concat(texts, length) };
}

/** The strings of the documents, then the keys. */
function joinStrings(sources: readonly Source[], keys: readonly string[]) {
  const stringStart = new Uint32Array(sources.length * 4 + 2);
  const parts: Uint8Array[] = [];
  let length = 0;
  let count = 0;
  for (const { part, document } of sources) {
    for (const bytes of part.segment.stringsOf(document)) {
      stringStart[count++] = length;
      parts.push(bytes);
      length += bytes.length;
    }
  }
  stringStart[count++] = length;
  parts.push(Buffer.from(JSON.stringify(keys)));
  length += (parts.at(-1) as Uint8Array).length;
  stringStart[count] = length;
  return { stringStart, strings: Buffer.concat(parts, length) };
}

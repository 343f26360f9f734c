import type { FrontmatterEntry } from "../src/documents/markdown/types.ts";
import { SegmentReader } from "../src/index/segments/index.ts";

/** All that is in a segment, for tests. `native/src/text/segment/text_segment.hpp` describes the sections. */

const HEADER_BYTES = 88;
const SECTION_COUNTS = 2;
const IDENTITY_BYTES = 8;
const SECTION_ALIGNMENT = 8;

/** The sections in their order, and the type of their elements. */
const SECTIONS = {
  stringStart: Uint32Array,
  strings: Uint8Array,
  lengths: Uint32Array,
  pathHashes: Uint32Array,
  tokenStart: Uint32Array,
  tokens: Uint32Array,
  blockStart: Uint32Array,
  blocks: Uint32Array,
  texts: Uint8Array,
  termStart: Uint32Array,
  termChars: Uint16Array,
  reversed: Uint32Array,
  languages: Uint8Array,
  stemStart: Uint32Array,
  stemKeys: Uint32Array,
  stemTerms: Uint32Array,
  stemCounts: Uint32Array,
  postingStart: Uint32Array,
  postings: Uint32Array,
} as const;

type Sections = { [Name in keyof typeof SECTIONS]: InstanceType<(typeof SECTIONS)[Name]> };

/** Values in `tokens` with this bit are marks, not terms. A field starts with MARK + its number. */
export const MARK = 0x80000000;
/** Starts the subwords of the identifiers in a field. */
export const SUBWORDS = 0xfffffffe;
/** Starts the joined spellings and the signs of a field. */
export const JOINED = 0xfffffffd;
/** Marks from here on are within a field. */
export const FIRST_INNER_MARK = JOINED;
/** Field numbers; frontmatter keys are numbered from `firstKey`. */
export const FIELD = { path: 0, title: 1, headings: 2, content: 3, firstKey: 4 } as const;

export const POSTING_DOCUMENT_SHIFT = 12;
export const POSTING_CODE_MASK = 0xfff;

/** The sections and their sizes, without the identity, which no other segment has. */
export const sectionBytes = (buffer: ArrayBufferLike): Buffer =>
  Buffer.from(buffer).subarray(IDENTITY_BYTES);

/** The views of the sections of a segment. */
export function sectionsOf(buffer: ArrayBufferLike): Sections {
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
  let offset = HEADER_BYTES;
  const entries = Object.entries(SECTIONS).map(([name, type], i) => {
    const section = new type(buffer as ArrayBuffer, offset, header[SECTION_COUNTS + i]);
    offset = Math.ceil((offset + section.byteLength) / SECTION_ALIGNMENT) * SECTION_ALIGNMENT;
    return [name, section];
  });
  return Object.fromEntries(entries) as Sections;
}

/** Opens a segment with all that is in it. */
export function contentsOf(buffer: ArrayBufferLike) {
  const { documentCount } = new SegmentReader(buffer);
  const sections = sectionsOf(buffer);
  const strings = Buffer.from(sections.strings);
  const stringAt = (at: number) =>
    strings.toString("utf8", sections.stringStart[at], sections.stringStart[at + 1]);
  /** All terms by number. */
  const terms = () => {
    const all = Buffer.from(sections.termChars.slice().buffer).toString("utf16le");
    const [, ...ends] = sections.termStart;
    return ends.map((end, term) => all.slice(sections.termStart[term], end));
  };
  /** The text blocks of a document's content, in order. */
  const blocksOf = (document: number) => {
    const { blockStart, blocks, texts } = sections;
    const from = blockStart[document] as number;
    return Array.from({ length: (blockStart[document + 1] as number) - from }, (_, i) => {
      const at = (from + i) * 2;
      const bytes = texts.slice(blocks[at], blocks[at + 2] ?? texts.length);
      const text = Bun.zstdDecompressSync(bytes).toString("utf8");
      return { firstToken: blocks[at + 1] as number, text };
    });
  };
  return {
    ...sections,
    buffer,
    documentCount,
    /** Frontmatter keys by their number. */
    keys: JSON.parse(stringAt(documentCount * 4)) as string[],
    path: (document: number) => stringAt(document * 4),
    id: (document: number) => stringAt(document * 4 + 1),
    title: (document: number) => stringAt(document * 4 + 2),
    frontmatter: (document: number) => JSON.parse(stringAt(document * 4 + 3)) as FrontmatterEntry[],
    blocksOf,
    terms,
  };
}

export type SegmentContents = ReturnType<typeof contentsOf>;

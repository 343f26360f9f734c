import { DISK_FORMATS } from "../../shared/disk-formats.ts";

/**
 * The layout of a segment: a header of 32-bit little-endian words, then sections that start at
 * multiples of 8 bytes. A segment is one buffer without pointers, so its bytes are the same in
 * memory, in a file and in another thread.
 *
 * | section      | element | content                                                             |
 * |--------------|---------|---------------------------------------------------------------------|
 * | stringStart  | u32     | the start of each string in `strings`; 4 strings per document         |
 * | strings      | u8      | path, id, title, frontmatter JSON per document; last: JSON list of keys |
 * | lengths      | u32     | per document, the length of its content in tokens                     |
 * | pathHashes   | u32     | per document, the hash that decides its shard                        |
 * | tokenStart   | u32     | where a document's tokens start in `tokens`                          |
 * | tokens       | u32     | per document, its tokens as term numbers, with marks between fields   |
 * | blockStart   | u32     | per document, its first text block; last: the number of blocks       |
 * | blocks       | u32     | per block: where it starts in `texts`, its first token in the content |
 * | texts        | u8      | blocks of the contents as plain text, compressed, for snippets       |
 * | termStart    | u32     | where a term starts in `termChars`                                   |
 * | termChars    | u16     | the terms in UTF-16, sorted by code unit                             |
 * | reversed     | u32     | term numbers in the order of the reversed terms                      |
 * | languages    | u8      | per document, the number of its language                              |
 * | stemStart    | u32     | per language, where its forms start in the next three                |
 * | stemKeys     | u32     | per form, the hash of its stem, ascending                            |
 * | stemTerms    | u32     | per form, its term                                                   |
 * | stemCounts   | u32     | per form, the documents of the language that hold the term           |
 * | postingStart | u32     | where a term's postings start in `postings`                          |
 * | postings     | u32     | document << 12 | frequency code, ascending                            |
 */
export const SECTIONS = [
  "stringStart",
  "strings",
  "lengths",
  "pathHashes",
  "tokenStart",
  "tokens",
  "blockStart",
  "blocks",
  "texts",
  "termStart",
  "termChars",
  "reversed",
  "languages",
  "stemStart",
  "stemKeys",
  "stemTerms",
  "stemCounts",
  "postingStart",
  "postings",
] as const;

export type SectionName = (typeof SECTIONS)[number];

const ELEMENT_BYTES: Partial<Record<SectionName, number>> = {
  strings: 1,
  texts: 1,
  termChars: 2,
  languages: 1,
};
export function elementBytes(name: SectionName): number {
  return ELEMENT_BYTES[name] ?? 4;
}

/** "TSKS" */
export const MAGIC = 0x534b5354;
/** Raised whenever layout, tokens, stems or impacts change, so that snapshots are rebuilt. */
export const VERSION = DISK_FORMATS.textSegment;

/** Positions of the header words. The element counts of all sections start at `sectionCounts`. */
export const HEADER = {
  magic: 0,
  version: 1,
  /** Bytes of the whole segment, split into two words. */
  lengthLow: 2,
  lengthHigh: 3,
  /** CRC-32 of everything after the header. */
  bodyChecksum: 4,
  documents: 5,
  terms: 6,
  sectionCounts: 7,
  /** CRC-32 of the header words before it. */
  headerChecksum: 31,
} as const;
export const HEADER_BYTES = 128;

/** Values in `tokens` with this bit are marks, not terms. A field starts with MARK + its number. */
export const MARK = 0x80000000;
/** Separates two headings, or a name and its folder: proximity does not reach across it. */
export const BREAK = 0xffffffff;
/** Starts the subwords of the identifiers in a field; see `splitIdentifiers`. */
export const SUBWORDS = 0xfffffffe;
/** Starts the joined spellings and the signs of a field. */
export const JOINED = 0xfffffffd;
/** Marks from here on are within a field. */
export const FIRST_INNER_MARK = JOINED;
/** Field numbers; frontmatter keys are numbered from `firstKey`. */
export const FIELD = { path: 0, title: 1, headings: 2, content: 3, firstKey: 4 } as const;

export const POSTING_DOCUMENT_SHIFT = 12;
export const POSTING_CODE_MASK = 0xfff;
/** A posting has 20 bits for the document. */
export const SEGMENT_MAX_DOCUMENTS = 1 << 20;

export function alignUp(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

export function checksum(bytes: Uint8Array): number {
  return Bun.hash.crc32(bytes) >>> 0;
}

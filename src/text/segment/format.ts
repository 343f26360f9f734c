import { DISK_FORMATS } from "../../shared/disk-formats.ts";

/**
 * The layout of a segment: a header of 32-bit little-endian words, then sections that start at
 * multiples of 8 bytes. A segment is one buffer without pointers, so the bytes in memory, those in
 * a file and those seen by another thread are the same.
 *
 * | section      | element | content                                                            |
 * |--------------|---------|--------------------------------------------------------------------|
 * | textStart    | u32     | a document's path, id, title, frontmatter in `text`, 4 a document    |
 * | text         | u8      | these strings in UTF-8, frontmatter as JSON; last: JSON list of keys |
 * | pathHashes   | u32     | decides the shard of a document                                      |
 * | wordStart    | u32     | where a document's words start in `words`                            |
 * | words        | u32     | per document its words as term numbers, with marks between fields    |
 * | termStart    | u32     | where a term starts in `termChars`                                   |
 * | termChars    | u16     | the terms in UTF-16, sorted by code unit                             |
 * | backwards    | u32     | the terms sorted by their reversed text                              |
 * | sameStem     | u32     | the next term with the same stem, in a circle                        |
 * | postingStart | u32     | where a term's postings start                                        |
 * | postings     | u32     | document << 8 | impact, ascending                                    |
 */
export const SECTIONS = [
  "textStart",
  "text",
  "pathHashes",
  "wordStart",
  "words",
  "termStart",
  "termChars",
  "backwards",
  "sameStem",
  "postingStart",
  "postings",
] as const;

export type SectionName = (typeof SECTIONS)[number];

const ELEMENT_BYTES: Partial<Record<SectionName, number>> = { text: 1, termChars: 2 };
export function elementBytes(name: SectionName): number {
  return ELEMENT_BYTES[name] ?? 4;
}

/** "TSKS" */
export const MAGIC = 0x534b5354;
export const VERSION = DISK_FORMATS.textSegment;

/** Header words, by position. Element counts of the sections follow from `SECTION_COUNTS` on. */
export const HEADER = {
  magic: 0,
  version: 1,
  /** Bytes of the whole segment, split in two words. */
  lengthLow: 2,
  lengthHigh: 3,
  /** CRC-32 of everything behind the header. */
  bodyChecksum: 4,
  documents: 5,
  terms: 6,
  sectionCounts: 7,
  /** CRC-32 of the header words before it. */
  headerChecksum: 31,
} as const;
export const HEADER_BYTES = 128;

/** Words with this bit are marks and no terms. */
export const MARK = 0x80000000;
/** Between two headings: nothing is near across it. */
export const BREAK = 0xffffffff;
/** Before the parts of names that stand in the field before it; see `splitIdentifiers`. */
export const PARTS = 0xfffffffe;
/** Fields as they are marked in `words`; frontmatter keys follow from `firstKey` on. */
export const FIELD = { path: 0, title: 1, headings: 2, content: 3, firstKey: 4 } as const;

export const POSTING_DOCUMENT_SHIFT = 8;
export const POSTING_IMPACT_MASK = 0xff;
/** What fits beside an impact in 32 bits. */
export const SEGMENT_MAX_DOCUMENTS = 1 << 24;

export function alignUp(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

export function checksum(bytes: Uint8Array): number {
  return Bun.hash.crc32(bytes) >>> 0;
}

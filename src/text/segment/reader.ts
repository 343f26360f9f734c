import { otherFormat } from "../../shared/disk-formats.ts";
import type { FrontmatterEntry } from "../../shared/frontmatter-entry.ts";
import {
  alignUp,
  checksum,
  elementBytes,
  HEADER,
  HEADER_BYTES,
  MAGIC,
  SECTIONS,
  type SectionName,
  VERSION,
} from "./format.ts";
import { termStrings } from "./term-strings.ts";
import type { TextBlock } from "./write-segment.ts";

/** The buffer is not a segment of this version, or it is damaged. The segment can be rebuilt. */
export class InvalidSegmentError extends Error {}

/**
 * Opens a segment for reading. It neither copies data nor allocates memory per document or term, so the
 * checksum is the only cost.
 *
 * @param verify true to check the body's checksum. The header is always checked. Pass false for
 *   a buffer that another thread has verified.
 * @throws InvalidSegmentError
 */
export function openSegment(buffer: ArrayBufferLike, verify = true): SegmentReader {
  if (buffer.byteLength < HEADER_BYTES) throw new InvalidSegmentError("the segment is truncated");
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
  const word = (position: number) => header[position] as number;
  if (word(HEADER.magic) !== MAGIC) throw new InvalidSegmentError("this is not a text segment");
  if (word(HEADER.version) !== VERSION) {
    throw new InvalidSegmentError(otherFormat(word(HEADER.version), VERSION));
  }
  const headerBytes = new Uint8Array(buffer, 0, HEADER.headerChecksum * 4);
  if (checksum(headerBytes) !== word(HEADER.headerChecksum)) {
    throw new InvalidSegmentError("the header of the segment is corrupt");
  }
  if (word(HEADER.lengthLow) + word(HEADER.lengthHigh) * 2 ** 32 !== buffer.byteLength) {
    throw new InvalidSegmentError("the segment does not have the length in its header");
  }
  if (verify && checksum(new Uint8Array(buffer, HEADER_BYTES)) !== word(HEADER.bodyChecksum)) {
    throw new InvalidSegmentError("the segment is corrupt");
  }
  return new SegmentReader(buffer);
}

/** Reads a segment. Created by `openSegment`. */
export class SegmentReader {
  readonly buffer: ArrayBufferLike;
  readonly documentCount: number;
  readonly termCount: number;
  /** Frontmatter keys by their number. */
  readonly keys: readonly string[];
  readonly tokens: Uint32Array;
  readonly tokenStart: Uint32Array;
  readonly postings: Uint32Array;
  readonly postingStart: Uint32Array;
  readonly #termChars: Uint16Array;
  readonly #termStart: Uint32Array;
  /** Length of the content of each document in tokens. */
  readonly lengths: Uint32Array;
  readonly pathHashes: Uint32Array;
  /** The number of the language of each document. */
  readonly languages: Uint8Array;
  /** By language, the start of its forms in `stemKeys` and `stemTerms`. */
  readonly stemStart: Uint32Array;
  readonly stemKeys: Uint32Array;
  readonly stemTerms: Uint32Array;
  readonly #blockStart: Uint32Array;
  readonly #blocks: Uint32Array;
  readonly #texts: Uint8Array;
  readonly #strings: Buffer;
  readonly #stringStart: Uint32Array;

  constructor(buffer: ArrayBufferLike) {
    this.buffer = buffer;
    const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
    this.documentCount = header[HEADER.documents] as number;
    this.termCount = header[HEADER.terms] as number;
    const at = sectionRanges(header);
    const u32 = (name: SectionName) => new Uint32Array(buffer, at[name].offset, at[name].count);
    this.tokens = u32("tokens");
    this.tokenStart = u32("tokenStart");
    this.postings = u32("postings");
    this.postingStart = u32("postingStart");
    this.#termChars = new Uint16Array(buffer, at.termChars.offset, at.termChars.count);
    this.#termStart = u32("termStart");
    this.lengths = u32("lengths");
    this.pathHashes = u32("pathHashes");
    this.languages = new Uint8Array(buffer, at.languages.offset, at.languages.count);
    this.stemStart = u32("stemStart");
    this.stemKeys = u32("stemKeys");
    this.stemTerms = u32("stemTerms");
    this.#blockStart = u32("blockStart");
    this.#blocks = u32("blocks");
    this.#texts = new Uint8Array(buffer, at.texts.offset, at.texts.count);
    this.#strings = Buffer.from(buffer, at.strings.offset, at.strings.count);
    this.#stringStart = u32("stringStart");
    this.keys = JSON.parse(this.#string(this.documentCount * 4)) as string[];
  }

  path(document: number): string {
    return this.#string(document * 4);
  }

  pathBytes(document: number): Uint8Array {
    return this.#bytes(document * 4);
  }

  id(document: number): string {
    return this.#string(document * 4 + 1);
  }

  title(document: number): string {
    return this.#string(document * 4 + 2);
  }

  frontmatter(document: number): FrontmatterEntry[] {
    return JSON.parse(this.#string(document * 4 + 3)) as FrontmatterEntry[];
  }

  /** Path, id, title and frontmatter of a document in UTF-8; views, not copies. */
  stringsOf(document: number): Uint8Array[] {
    return [0, 1, 2, 3].map((i) => this.#bytes(document * 4 + i));
  }

  pathHash(document: number): number {
    return this.pathHashes[document] as number;
  }

  /** The text blocks of a document's content, in order; views, not copies. */
  blocksOf(document: number): TextBlock[] {
    const from = this.#blockStart[document] as number;
    const to = this.#blockStart[document + 1] as number;
    return Array.from({ length: to - from }, (_, i) => {
      const at = (from + i) * 2;
      const end = this.#blocks[at + 2] ?? this.#texts.length;
      const bytes = this.#texts.subarray(this.#blocks[at], end);
      return { firstToken: this.#blocks[at + 1] as number, bytes };
    });
  }

  /** All terms by number. */
  terms(): string[] {
    return termStrings({ starts: this.#termStart, chars: this.#termChars });
  }

  #bytes(index: number): Buffer {
    return this.#strings.subarray(this.#stringStart[index], this.#stringStart[index + 1]);
  }

  #string(index: number): string {
    return this.#strings.toString("utf8", this.#stringStart[index], this.#stringStart[index + 1]);
  }
}

function sectionRanges(header: Uint32Array) {
  const ranges = {} as Record<SectionName, { offset: number; count: number }>;
  let offset = HEADER_BYTES;
  SECTIONS.forEach((name, i) => {
    const count = header[HEADER.sectionCounts + i] as number;
    ranges[name] = { offset, count };
    offset = alignUp(offset + count * elementBytes(name));
  });
  return ranges;
}

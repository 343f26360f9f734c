import { DISK_FORMATS, otherFormat } from "../../domain/disk-formats.ts";

/** "TSKS" */
const MAGIC = 0x534b5354;
/** Raised whenever layout, tokens, stems or impacts change, so that snapshots are rebuilt. */
const VERSION = DISK_FORMATS.textSegment;

/**
 * Positions of the 32-bit words of the header. A segment is one buffer without pointers, so its bytes are the same in
 * memory, in a file and in another thread. `native/src/text/segment/text_segment.hpp` describes its sections.
 */
const HEADER = {
  magic: 0,
  version: 1,
  /** Bytes of the whole segment, split into two words. */
  lengthLow: 2,
  lengthHigh: 3,
  /** CRC-32 of everything after the header. */
  bodyChecksum: 4,
  documents: 5,
  /** The number of strings, which are the first sections. */
  strings: 7,
  /** CRC-32 of the header words before it. */
  headerChecksum: 31,
} as const;
const HEADER_BYTES = 128;
/** A document has its path, id, title and frontmatter. */
const STRINGS_PER_DOCUMENT = 4;
const ID_STRING = 1;
/** Sections start at multiples of this. */
const SECTION_ALIGNMENT = 8;

const checksum = (bytes: Uint8Array): number => Bun.hash.crc32(bytes) >>> 0;

const bodyChecksum = (buffer: ArrayBufferLike) => checksum(new Uint8Array(buffer, HEADER_BYTES));
const headerChecksum = (buffer: ArrayBufferLike) =>
  checksum(new Uint8Array(buffer, 0, HEADER.headerChecksum * 4));

/** The buffer is not a segment of this version, or it is damaged. The segment can be rebuilt. */
export class InvalidSegmentError extends Error {}

/** Adds the version and the checksums to a segment that was written. */
export function sealSegment(buffer: SharedArrayBuffer): void {
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
  header[HEADER.magic] = MAGIC;
  header[HEADER.version] = VERSION;
  header[HEADER.bodyChecksum] = bodyChecksum(buffer);
  header[HEADER.headerChecksum] = headerChecksum(buffer);
}

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
  if (headerChecksum(buffer) !== word(HEADER.headerChecksum)) {
    throw new InvalidSegmentError("the header of the segment is corrupt");
  }
  if (word(HEADER.lengthLow) + word(HEADER.lengthHigh) * 2 ** 32 !== buffer.byteLength) {
    throw new InvalidSegmentError("the segment does not have the length in its header");
  }
  if (verify && bodyChecksum(buffer) !== word(HEADER.bodyChecksum)) {
    throw new InvalidSegmentError("the segment is corrupt");
  }
  return new SegmentReader(buffer);
}

/** Reads the documents of a segment; native code reads all the rest. Created by `openSegment`. */
export class SegmentReader {
  readonly buffer: ArrayBufferLike;
  readonly documentCount: number;
  readonly #strings: Buffer;
  readonly #stringStart: Uint32Array;

  constructor(buffer: ArrayBufferLike) {
    this.buffer = buffer;
    const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
    this.documentCount = header[HEADER.documents] as number;
    this.#stringStart = new Uint32Array(buffer, HEADER_BYTES, header[HEADER.strings]);
    const end = HEADER_BYTES + this.#stringStart.byteLength;
    this.#strings = Buffer.from(buffer, Math.ceil(end / SECTION_ALIGNMENT) * SECTION_ALIGNMENT);
  }

  id(document: number): string {
    const at = document * STRINGS_PER_DOCUMENT + ID_STRING;
    return this.#strings.toString("utf8", this.#stringStart[at], this.#stringStart[at + 1]);
  }
}

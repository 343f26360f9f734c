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
import type { FrontmatterEntry } from "./types.ts";

/** A buffer that is no segment of ours, or no longer a whole one. The index can be built anew. */
export class InvalidSegmentError extends Error {}

/**
 * Opens a segment for reading. Nothing is copied and nothing is made per document or term, so
 * opening costs the checksum alone.
 *
 * @param verify whether to check the body's checksum; the header is checked in any case. A thread
 *   that gets a buffer which another has verified may leave it out.
 * @throws InvalidSegmentError
 */
export function openSegment(buffer: ArrayBufferLike, verify = true): SegmentReader {
  if (buffer.byteLength < HEADER_BYTES) throw new InvalidSegmentError("the segment is cut short");
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
  const word = (position: number) => header[position] as number;
  if (word(HEADER.magic) !== MAGIC) throw new InvalidSegmentError("this is not a text segment");
  if (word(HEADER.version) !== VERSION) {
    throw new InvalidSegmentError(
      `the segment has version ${word(HEADER.version)}, not ${VERSION}`,
    );
  }
  const headerBytes = new Uint8Array(buffer, 0, HEADER.headerChecksum * 4);
  if (checksum(headerBytes) !== word(HEADER.headerChecksum)) {
    throw new InvalidSegmentError("the header of the segment is damaged");
  }
  if (word(HEADER.lengthLow) + word(HEADER.lengthHigh) * 2 ** 32 !== buffer.byteLength) {
    throw new InvalidSegmentError("the segment does not have its whole length");
  }
  if (verify && checksum(new Uint8Array(buffer, HEADER_BYTES)) !== word(HEADER.bodyChecksum)) {
    throw new InvalidSegmentError("the segment is damaged");
  }
  return new SegmentReader(buffer);
}

/** A verified segment. Made by `openSegment`. */
export class SegmentReader {
  readonly buffer: ArrayBufferLike;
  readonly documentCount: number;
  readonly termCount: number;
  /** Frontmatter keys by their number. */
  readonly keys: readonly string[];
  readonly words: Uint32Array;
  readonly wordStart: Uint32Array;
  readonly postings: Uint32Array;
  readonly postingStart: Uint32Array;
  readonly termChars: Uint16Array;
  readonly termStart: Uint32Array;
  /** Terms by their reversed text. */
  readonly backwards: Uint32Array;
  readonly sameStem: Uint32Array;
  readonly pathHashes: Uint32Array;
  readonly #text: Buffer;
  readonly #textStart: Uint32Array;

  constructor(buffer: ArrayBufferLike) {
    this.buffer = buffer;
    const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
    this.documentCount = header[HEADER.documents] as number;
    this.termCount = header[HEADER.terms] as number;
    const at = sectionPlaces(header);
    const u32 = (name: SectionName) => new Uint32Array(buffer, at[name].offset, at[name].count);
    this.words = u32("words");
    this.wordStart = u32("wordStart");
    this.postings = u32("postings");
    this.postingStart = u32("postingStart");
    this.termChars = new Uint16Array(buffer, at.termChars.offset, at.termChars.count);
    this.termStart = u32("termStart");
    this.backwards = u32("backwards");
    this.sameStem = u32("sameStem");
    this.pathHashes = u32("pathHashes");
    this.#text = Buffer.from(buffer, at.text.offset, at.text.count);
    this.#textStart = u32("textStart");
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

  frontmatterJson(document: number): string {
    return this.#string(document * 4 + 3);
  }

  frontmatter(document: number): FrontmatterEntry[] {
    return JSON.parse(this.frontmatterJson(document)) as FrontmatterEntry[];
  }

  pathHash(document: number): number {
    return this.pathHashes[document] as number;
  }

  /** Term numbers and field marks of a document; a view, not a copy. */
  wordsOf(document: number): Uint32Array {
    return this.words.subarray(this.wordStart[document], this.wordStart[document + 1]);
  }

  term(term: number): string {
    const from = this.termStart[term] as number;
    const to = this.termStart[term + 1] as number;
    return String.fromCharCode(...this.termChars.subarray(from, to));
  }

  /** Postings of a term; a view, not a copy. */
  postingsOf(term: number): Uint32Array {
    return this.postings.subarray(this.postingStart[term], this.postingStart[term + 1]);
  }

  #bytes(index: number): Buffer {
    return this.#text.subarray(this.#textStart[index], this.#textStart[index + 1]);
  }

  #string(index: number): string {
    return this.#bytes(index).toString("utf8");
  }
}

function sectionPlaces(header: Uint32Array) {
  const places = {} as Record<SectionName, { offset: number; count: number }>;
  let offset = HEADER_BYTES;
  SECTIONS.forEach((name, i) => {
    const count = header[HEADER.sectionCounts + i] as number;
    places[name] = { offset, count };
    offset = alignUp(offset + count * elementBytes(name));
  });
  return places;
}

/** The header of a segment, of which `native/src/text/segment/text_segment.hpp` describes the sections. */
const HEADER_BYTES = 88;
/** The 32-bit words of the header with the numbers of strings, the first section, and of documents. */
const STRINGS_WORD = 2;
const DOCUMENTS_WORD = 4;
/** A document has its path, id, title and frontmatter. */
const STRINGS_PER_DOCUMENT = 4;
const ID_STRING = 1;
/** Sections start at multiples of this. */
const SECTION_ALIGNMENT = 8;

/**
 * Reads the documents of a segment; native code reads all the rest. A segment is one buffer without pointers, so its bytes
 * are the same in memory, in a file and in another thread. Opening one neither copies data nor allocates memory per
 * document or term.
 */
export class SegmentReader {
  readonly documentCount: number;
  readonly #strings: Buffer;
  readonly #stringStart: Uint32Array;

  /** @param buffer a segment that this process has built, or read from a verified file */
  constructor(readonly buffer: ArrayBufferLike) {
    const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
    this.documentCount = header[DOCUMENTS_WORD] as number;
    this.#stringStart = new Uint32Array(buffer, HEADER_BYTES, header[STRINGS_WORD]);
    const end = HEADER_BYTES + this.#stringStart.byteLength;
    this.#strings = Buffer.from(buffer, Math.ceil(end / SECTION_ALIGNMENT) * SECTION_ALIGNMENT);
  }

  id(document: number): string {
    const at = document * STRINGS_PER_DOCUMENT + ID_STRING;
    return this.#strings.toString("utf8", this.#stringStart[at], this.#stringStart[at + 1]);
  }
}

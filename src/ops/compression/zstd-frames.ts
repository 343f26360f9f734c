const MAGIC = 0xfd2fb528;
/** The magic numbers of frames to skip differ in their lowest four bits. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const MAGIC_BYTES = 4;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
/** The type of a block that is one byte, repeated. */
const RUN_LENGTH = 1;

/** A little-endian number, as frames have them. */
function numberOf(bytes: readonly number[]): number {
  return bytes.reduceRight((sum, byte) => sum * 256 + byte, 0);
}

/** Steps through the structure of zstd frames without decompressing them. */
class FrameWalker {
  /** Bytes of the part that is being read, of which `#needed` make it complete. */
  #part: number[] = [];
  #needed = MAGIC_BYTES;
  #next: (part: readonly number[]) => void = this.#magic;
  /** Bytes to skip before the next part. */
  #skip = 0;
  #hasChecksum = false;

  /** True between two frames. */
  get isComplete(): boolean {
    return this.#next === this.#magic && this.#part.length === 0 && this.#skip === 0;
  }

  /** Throws when the bytes cannot be part of zstd frames. */
  read(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const skipped = Math.min(this.#skip, bytes.length - at);
      this.#skip -= skipped;
      at += skipped;
      if (at === bytes.length) return;
      this.#part.push(bytes[at++] as number);
      if (this.#part.length < this.#needed) continue;
      const part = this.#part;
      this.#part = [];
      this.#next(part);
    }
  }

  #expect(bytes: number, next: (part: readonly number[]) => void): void {
    this.#needed = bytes;
    this.#next = next;
  }

  #magic(part: readonly number[]): void {
    const magic = numberOf(part);
    if (magic === MAGIC) this.#expect(1, this.#descriptor);
    else if (magic - (magic % 16) === SKIPPABLE_MAGIC) this.#expect(4, this.#skippable);
    else throw new Error("is not zstd");
  }

  #skippable(part: readonly number[]): void {
    this.#skip = numberOf(part);
    this.#expect(MAGIC_BYTES, this.#magic);
  }

  #descriptor([descriptor = 0]: readonly number[]): void {
    const isSingleSegment = (descriptor & 0x20) !== 0;
    const sizeFlag = descriptor >> 6;
    const contentSize = sizeFlag === 0 && isSingleSegment ? 1 : CONTENT_SIZE_BYTES[sizeFlag];
    const windowSize = isSingleSegment ? 0 : 1;
    this.#skip = windowSize + (DICTIONARY_ID_BYTES[descriptor & 3] ?? 0) + (contentSize ?? 0);
    this.#hasChecksum = (descriptor & 4) !== 0;
    this.#expect(BLOCK_HEADER_BYTES, this.#block);
  }

  #block(part: readonly number[]): void {
    const header = numberOf(part);
    const isLast = (header & 1) === 1;
    this.#skip = ((header >> 1) & 3) === RUN_LENGTH ? 1 : header >> 3;
    if (!isLast) return;
    if (this.#hasChecksum) this.#skip += CHECKSUM_BYTES;
    this.#expect(MAGIC_BYTES, this.#magic);
  }
}

/**
 * The input unchanged. Throws at its end unless it consists of whole zstd frames, because the
 * decompressor does not report an input that breaks off.
 */
export async function* wholeFrames(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const walker = new FrameWalker();
  let isEmpty = true;
  for await (const piece of input) {
    walker.read(piece);
    isEmpty &&= piece.length === 0;
    yield piece;
  }
  if (isEmpty || !walker.isComplete) throw new Error("unexpected end of file");
}

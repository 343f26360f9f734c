import type { NumberedVersions } from "../versions/version-index.ts";

const UNKNOWN = 0xffff_ffff;
/** Stands for the ordinal of a version whose vectors are not one span with all of its chunks. */
export const NOT_NUMBERED = 0xffff_fffe;

/**
 * The first ordinals of versions by their numbers, for those whose chunks all have vectors of one dimension
 * with consecutive ordinals. Nearly every version is such a one, and finding it by its id takes much longer.
 */
export class NumberedSpans {
  #numbering = -1;
  #ordinals = new Uint32Array(0);

  /**
   * The first ordinal of each version, or NOT_NUMBERED.
   *
   * @param spansOf finds the (dimension, first ordinal, count) triples of a version
   */
  ordinalsOf(
    versions: NumberedVersions,
    numbers: Uint32Array,
    spansOf: (versionId: string) => Uint32Array,
  ): Uint32Array {
    const { numbering, count, firstChunks, dimensions } = versions;
    if (this.#numbering !== numbering) this.clear();
    this.#numbering = numbering;
    this.#makeRoom(count);
    const known = this.#ordinals;
    const ordinals = new Uint32Array(numbers.length);
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number;
      if (known[number] === UNKNOWN) {
        const spans = spansOf(versions.idOf(number));
        const first = firstChunks[number] as number;
        const chunks = (firstChunks[number + 1] as number) - first;
        // The fields of a version that has got embeddings may be older than its vectors.
        const isWhole = spans.length === 3 && spans[2] === chunks && spans[0] === dimensions[first];
        known[number] = isWhole ? (spans[1] as number) : NOT_NUMBERED;
      }
      ordinals[i] = known[number] as number;
    }
    return ordinals;
  }

  /** Forgets everything: ordinals have changed. */
  clear(): void {
    this.#ordinals = new Uint32Array(0);
  }

  #makeRoom(count: number): void {
    const { length } = this.#ordinals;
    if (length >= count) return;
    const grown = new Uint32Array(Math.max(count, length * 2)).fill(UNKNOWN);
    grown.set(this.#ordinals);
    this.#ordinals = grown;
  }
}

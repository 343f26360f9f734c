import { INDEX_SLICE_MS } from "../../domain/limits.ts";

/** File versions that are added before another scope of the project may be indexed. */
const INDEX_SLICE_MIN_VERSIONS = 32;
const INDEX_SLICE_VERSIONS = 1_024;

/**
 * How many file versions are added at a time, adapted so that a slice takes about INDEX_SLICE_MS:
 * versions differ in their number of chunks, and machines in their speed.
 */
export class SliceSize {
  #versions = INDEX_SLICE_MIN_VERSIONS;

  get versions(): number {
    return this.#versions;
  }

  /** Adapts the size to a slice that was added. */
  record(versions: number, durationMs: number): void {
    if (durationMs > INDEX_SLICE_MS) {
      this.#versions = Math.max(INDEX_SLICE_MIN_VERSIONS, this.#versions >> 1);
    } else if (durationMs < INDEX_SLICE_MS / 2 && versions === this.#versions) {
      this.#versions = Math.min(INDEX_SLICE_VERSIONS, this.#versions * 2);
    }
  }
}

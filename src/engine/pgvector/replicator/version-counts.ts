import { DIMENSIONS } from "../../../domain/limits.ts";

const slotOf = new Map<number, number>(DIMENSIONS.map((dimension, slot) => [dimension, slot]));

/** File versions that were read from the database, with their numbers of chunks by dimension. */
export class VersionCounts {
  readonly #counts = new Map<string, number[]>();

  /** Notes a version that is stored, with or without chunks. */
  note(versionId: string): void {
    if (!this.#counts.has(versionId)) {
      this.#counts.set(
        versionId,
        DIMENSIONS.map(() => 0),
      );
    }
  }

  add(versionId: string, dimension: number): void {
    this.note(versionId);
    const counts = this.#counts.get(versionId) as number[];
    const slot = slotOf.get(dimension) as number;
    counts[slot] = (counts[slot] as number) + 1;
  }

  get versions(): string[] {
    return [...this.#counts.keys()];
  }

  /** In the order of DIMENSIONS. */
  of(versionId: string): readonly number[] {
    return this.#counts.get(versionId) as number[];
  }
}

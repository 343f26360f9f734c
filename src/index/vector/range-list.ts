import { ORDINAL_ROW_BITS } from "../../../native/index.ts";
import { Numbers } from "../../domain/numbers.ts";

export const SHARD_ORDINALS = 2 ** ORDINAL_ROW_BITS;

/**
 * Ranges of ordinals. Versions that were added together are usually in a scope together, so ranges that
 * follow each other in a shard are joined.
 */
export class RangeList {
  readonly #pairs = new Numbers();
  #start = 0;
  #count = 0;

  add(start: number, count: number): void {
    const joins = this.#count > 0 && this.#start + this.#count === start;
    if (joins && start % SHARD_ORDINALS !== 0) {
      this.#count += count;
      return;
    }
    this.#end();
    this.#start = start;
    this.#count = count;
  }

  /** The (start, count) pairs. */
  get pairs(): Uint32Array {
    this.#end();
    return this.#pairs.values;
  }

  #end(): void {
    if (this.#count === 0) return;
    this.#pairs.push(this.#start);
    this.#pairs.push(this.#count);
    this.#count = 0;
  }
}

/** Ranges of ordinals by dimension. */
export class DimensionRanges {
  readonly lists = new Map<number, RangeList>();
  #dimension: number | undefined;
  #list = new RangeList();

  add(dimension: number, start: number, count: number): void {
    if (dimension !== this.#dimension) {
      this.#dimension = dimension;
      this.#list = this.lists.get(dimension) ?? new RangeList();
      this.lists.set(dimension, this.#list);
    }
    this.#list.add(start, count);
  }
}

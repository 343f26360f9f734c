import type { Compacted } from "../../../native/index.ts";
import { INDEX_META_SLICE_VERSIONS } from "../../domain/limits.ts";
import { Numbers } from "../../domain/numbers.ts";
import { hasDocument } from "../segments/index.ts";
import { type NumberSet, withNumber } from "../versions/number-set.ts";
import type { Members } from "../versions/version-index.ts";
import { FORGOTTEN, type Renumbering, type VersionTable } from "../versions/version-table.ts";
import { DimensionRanges, SHARD_ORDINALS } from "./range-list.ts";

/**
 * The chunks of a version in their order, as (dimension, first ordinal, count) triples. None leads from one shard into
 * another.
 */
type Spans = Uint32Array;

/** Adds the next chunk to the spans of a version. */
export function addToSpans(spans: number[], dimension: number, ordinal: number): void {
  const [last, first = 0, count = 0] = spans.slice(-3);
  const follows = dimension === last && ordinal === first + count;
  if (follows && ordinal % SHARD_ORDINALS !== 0) spans[spans.length - 1] = count + 1;
  else spans.push(dimension, ordinal, 1);
}

/** Where the index has the chunks of a project's file versions, by number. Nearly every version has one span. */
export class VersionSpans {
  /** The spans of all versions. */
  #spans = new Numbers();
  /** For each version where its spans begin and end. */
  #places = new Numbers();

  constructor(readonly table: VersionTable) {}

  set(number: number, spans: ArrayLike<number>): void {
    this.#places.set(2 * number, this.#spans.length);
    for (let i = 0; i < spans.length; i++) this.#spans.push(spans[i] as number);
    this.#places.set(2 * number + 1, this.#spans.length);
  }

  /** The ranges of the chunks of all versions. */
  all(): DimensionRanges {
    const numbers = new Uint32Array(this.table.count).map((_, i) => i);
    return this.rangesOf({ numbers, chunks: null });
  }

  /** The ranges of the chunks of versions, or of some of these chunks. */
  rangesOf({ numbers, chunks }: Members): DimensionRanges {
    const ranges = new DimensionRanges();
    const [spans, places] = [this.#spans.values, this.#places.values];
    for (const number of numbers) {
      const [start, end] = [places[2 * number] ?? 0, places[2 * number + 1] ?? 0];
      if (chunks !== null) this.#addMembers(ranges, number, spans.subarray(start, end), chunks);
      for (let i = start; i < end && chunks === null; i += 3) {
        ranges.add(spans[i] as number, spans[i + 1] as number, spans[i + 2] as number);
      }
    }
    return ranges;
  }

  /** Adds those chunks of a version that belong to a scope. */
  #addMembers(ranges: DimensionRanges, number: number, spans: Spans, members: NumberSet): void {
    let [chunk = 0, end = 0] = this.table.firstChunks.subarray(number, number + 2);
    for (let i = 0; i < spans.length; i += 3) {
      const [dimension = 0, first = 0, count = 0] = spans.subarray(i, i + 3);
      // A text may have been cut after the table had read its chunks. It is added again then.
      for (let k = 0; k < count && chunk < end; k++, chunk++) {
        if (hasDocument(members, chunk)) ranges.add(dimension, first + k, 1);
      }
    }
  }

  /** Renumbers the chunks of a shard that was compacted. All of those that versions have remain. */
  compacted({ dimension, shard, remaining }: Compacted): void {
    const newRow = renumbering(remaining);
    const spans = this.#spans.values;
    for (let i = 0; i < spans.length; i += 3) {
      const ordinal = spans[i + 1] as number;
      if (spans[i] !== dimension || Math.floor(ordinal / SHARD_ORDINALS) !== shard) continue;
      spans[i + 1] = shard * SHARD_ORDINALS + newRow(ordinal % SHARD_ORDINALS);
    }
  }

  /** Takes over the new numbers that the table has given to versions. */
  renumber({ numbers }: Renumbering): void {
    const [spans, places] = [this.#spans.values, this.#places.values];
    this.#spans = new Numbers();
    this.#places = new Numbers();
    for (let number = 0; number < numbers.length; number++) {
      const added = numbers[number] as number;
      if (added === FORGOTTEN) continue;
      this.set(added, spans.subarray(places[2 * number] ?? 0, places[2 * number + 1] ?? 0));
    }
  }

  /** One line of text per version. Lets other work run in between. */
  async encode(): Promise<string[]> {
    const { ids, count } = this.table;
    // If versions get other numbers meanwhile, these are still as they were.
    const [spans, places] = [this.#spans.values, this.#places.values];
    const lines: string[] = [];
    const slice: string[] = [];
    for (let number = 0; number < count; number++) {
      const own = spans.subarray(places[2 * number] ?? 0, places[2 * number + 1] ?? 0);
      slice.push(`${ids[number]} ${own.join(" ")}`);
      if (slice.length < INDEX_META_SLICE_VERSIONS) continue;
      lines.push(slice.splice(0).join("\n"));
      await Bun.sleep(0);
    }
    return [...lines, ...slice];
  }

  /**
   * Reads the output of `encode`, line by line. Versions that it lacks are no longer known to the table. Lets other work
   * run in between.
   */
  static async decode(table: VersionTable, lines: readonly string[]): Promise<VersionSpans> {
    const versions = new VersionSpans(table);
    let found: NumberSet = new Uint32Array(0);
    for (const [i, line] of lines.entries()) {
      const [id = "", ...spans] = line.split(" ");
      const number = table.numberOf(id);
      if (number !== undefined) {
        versions.set(number, spans.filter(Boolean).map(Number));
        found = withNumber(found, number);
      }
      if ((i + 1) % INDEX_META_SLICE_VERSIONS === 0) await Bun.sleep(0);
    }
    table.restored(found);
    return versions;
  }
}

/** The new number of a row, given the rows that remain, of which it is one. */
function renumbering(remaining: Uint32Array): (row: number) => number {
  const starts = new Uint32Array(remaining.length / 2);
  const before = new Uint32Array(starts.length);
  for (let i = 0, total = 0; i < starts.length; i++) {
    starts[i] = remaining[2 * i] as number;
    before[i] = total;
    total += remaining[2 * i + 1] as number;
  }
  return (row) => {
    const i = lastAtMost(starts, row);
    return (before[i] as number) + row - (starts[i] as number);
  };
}

/** The position of the last number that is not above `value`; -1 when all are. */
function lastAtMost(sorted: Uint32Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

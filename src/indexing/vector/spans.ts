import type { Compacted } from "../../../native/index.ts";
import { INDEX_META_SLICE_VERSIONS } from "../../shared/limits.ts";
import { hasDocument } from "../../text/index.ts";
import { type Members, UnknownVersion } from "../versions/version-index.ts";
import { NOT_NUMBERED, NumberedSpans } from "./numbered-spans.ts";
import { RangeList, SHARD_ORDINALS } from "./range-list.ts";

/**
 * (dimension, first ordinal, count) triples. Nearly every version has one, or none. None leads from one
 * shard into another.
 */
type Spans = Uint32Array;

const NO_SPANS: Spans = new Uint32Array(0);

/** Copies an id: a substring would keep the long string it was cut from in memory. */
const copied = (id: string): string => Buffer.from(id).toString();

/** Adds one chunk to the spans of a version. */
export function extendSpans(spans: number[], dimension: number, ordinal: number): void {
  for (let i = 0; i < spans.length; i += 3) {
    if (spans[i] !== dimension || ordinal % SHARD_ORDINALS === 0) continue;
    if ((spans[i + 1] as number) + (spans[i + 2] as number) === ordinal) {
      (spans[i + 2] as number) += 1;
      return;
    }
  }
  spans.push(dimension, ordinal, 1);
}

/** The vectors of a project's file versions. */
export class VersionSpans {
  readonly #spans = new Map<string, Spans>();
  readonly #numbered = new NumberedSpans();
  /** Versions to add again. */
  readonly #outdated = new Set<string>();

  has(versionId: string): boolean {
    return this.#spans.has(versionId) && !this.#outdated.has(versionId);
  }

  /** Until it is set again, the version counts as missing and keeps its vectors. */
  readAgain(versionId: string): void {
    if (this.#spans.has(versionId)) this.#outdated.add(copied(versionId));
  }

  set(versionId: string, spans: readonly number[]): void {
    if (this.#outdated.delete(versionId)) this.#numbered.clear();
    this.#spans.set(copied(versionId), spans.length > 0 ? Uint32Array.from(spans) : NO_SPANS);
  }

  /** (start, count) pairs of the versions' vectors, by dimension. Throws UnknownVersion. */
  rangesOf(versionIds: readonly string[]): Ranges {
    const ranges: Ranges = new Map();
    for (const id of versionIds) addSpans(ranges, this.#known(id));
    return ranges;
  }

  /** The same for versions with numbers. Throws UnknownVersion. */
  rangesOfMembers({ versions, numbers, chunks }: Members): Ranges {
    const ranges: Ranges = new Map();
    const { firstChunks, dimensions } = versions;
    const ordinals = this.#numbered.ordinalsOf(versions, numbers, (id) => this.#known(id));
    let dimension = 0;
    let list = new RangeList();
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number;
      const ordinal = ordinals[i] as number;
      const first = firstChunks[number] as number;
      const end = firstChunks[number + 1] as number;
      if (ordinal === NOT_NUMBERED) {
        const spans = this.#known(versions.idOf(number));
        addSpans(ranges, chunks === null ? spans : spansOfMembers(spans, versions, number, chunks));
        continue;
      }
      if (dimensions[first] !== dimension) {
        dimension = dimensions[first] as number;
        list = rangesIn(ranges, dimension);
      }
      if (chunks === null) list.add(ordinal, end - first);
      else {
        for (let chunk = first; chunk < end; chunk++) {
          if (hasDocument(chunks, chunk)) list.add(ordinal + chunk - first, 1);
        }
      }
    }
    return ranges;
  }

  #known(versionId: string): Spans {
    const spans = this.#spans.get(versionId);
    if (spans === undefined) throw new UnknownVersion();
    return spans;
  }

  /** Renumbers the chunks of a shard that was compacted, and forgets the versions that are gone. */
  renumber({ dimension, shard, remaining }: Compacted): void {
    const newRow = renumbering(remaining);
    this.#numbered.clear();
    for (const [id, spans] of this.#spans) {
      for (let i = 0; i < spans.length; i += 3) {
        const ordinal = spans[i + 1] as number;
        if (spans[i] !== dimension || Math.floor(ordinal / SHARD_ORDINALS) !== shard) continue;
        const row = newRow(ordinal % SHARD_ORDINALS);
        if (row === undefined) {
          this.#spans.delete(id);
          break;
        }
        spans[i + 1] = shard * SHARD_ORDINALS + row;
      }
    }
  }

  /** One line of text per version. Lets other work run in between. */
  async encode(): Promise<string[]> {
    const lines: string[] = [];
    const slice: string[] = [];
    for (const [id, spans] of this.#spans) {
      if (this.#outdated.has(id)) continue;
      slice.push(`${id} ${spans.join(" ")}`);
      if (slice.length < INDEX_META_SLICE_VERSIONS) continue;
      lines.push(slice.splice(0).join("\n"));
      await Bun.sleep(0);
    }
    return [...lines, ...slice];
  }

  /** Reads the output of `encode`, line by line. Lets other work run in between. */
  static async decode(lines: readonly string[]): Promise<VersionSpans> {
    const versions = new VersionSpans();
    for (const [i, line] of lines.entries()) {
      const [id = "", ...spans] = line.split(" ");
      versions.set(id, spans.filter(Boolean).map(Number));
      if ((i + 1) % INDEX_META_SLICE_VERSIONS === 0) await Bun.sleep(0);
    }
    return versions;
  }
}

/** Ranges of ordinals by dimension. */
type Ranges = Map<number, RangeList>;

function rangesIn(ranges: Ranges, dimension: number): RangeList {
  const known = ranges.get(dimension) ?? new RangeList();
  ranges.set(dimension, known);
  return known;
}

function addSpans(ranges: Ranges, spans: Spans): void {
  for (let i = 0; i < spans.length; i += 3) {
    rangesIn(ranges, spans[i] as number).add(spans[i + 1] as number, spans[i + 2] as number);
  }
}

/** The spans of those chunks of a version that belong to a scope. */
function spansOfMembers(
  spans: Spans,
  versions: Members["versions"],
  number: number,
  members: Uint32Array,
): Spans {
  const chosen: number[] = [];
  const chunks = new Map<number, number[]>();
  const end = versions.firstChunks[number + 1] as number;
  for (let chunk = versions.firstChunks[number] as number; chunk < end; chunk++) {
    const dimension = versions.dimensions[chunk] as number;
    chunks.set(dimension, [...(chunks.get(dimension) ?? []), chunk]);
  }
  for (const [dimension, own] of chunks) {
    const ordinals = ordinalsIn(spans, dimension);
    // A vector that no search could score has no ordinal, so the others cannot be told apart.
    if (own.length !== ordinals.length) continue;
    for (const [i, ordinal] of ordinals.entries()) {
      if (hasDocument(members, own[i] as number)) extendSpans(chosen, dimension, ordinal);
    }
  }
  return Uint32Array.from(chosen);
}

/** The ordinals of a version's chunks of one dimension, by index. */
function ordinalsIn(spans: Spans, dimension: number): number[] {
  const ordinals: number[] = [];
  for (let i = 0; i < spans.length; i += 3) {
    if (spans[i] !== dimension) continue;
    const [first, count] = [spans[i + 1] as number, spans[i + 2] as number];
    for (let k = 0; k < count; k++) ordinals.push(first + k);
  }
  return ordinals;
}

/**
 * The new number of a row, given the rows that remain; undefined for one that is gone. Scopes name
 * whole versions, so all chunks of a span remain, or none.
 */
function renumbering(remaining: Uint32Array): (row: number) => number | undefined {
  const starts = new Uint32Array(remaining.length / 2);
  const before = new Uint32Array(starts.length);
  for (let i = 0, total = 0; i < starts.length; i++) {
    starts[i] = remaining[2 * i] as number;
    before[i] = total;
    total += remaining[2 * i + 1] as number;
  }
  return (row) => {
    const i = lastAtMost(starts, row);
    const offset = row - (starts[i] ?? row);
    if (i < 0 || offset >= (remaining[2 * i + 1] as number)) return undefined;
    return (before[i] as number) + offset;
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

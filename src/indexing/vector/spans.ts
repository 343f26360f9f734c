import { INDEX_META_SLICE_VERSIONS } from "../../shared/limits.ts";
import { UnknownVersion } from "../versions/version-index.ts";

/** (dimension, first ordinal, count) triples. Nearly every version has one, or none. */
type Spans = Uint32Array;

const NO_SPANS: Spans = new Uint32Array(0);

/** Copies an id: a substring would keep the long string it was cut from in memory. */
const copied = (id: string): string => Buffer.from(id).toString();

/** Adds one chunk to the spans of a version. Ordinals of a dimension only increase. */
export function extendSpans(spans: number[], dimension: number, ordinal: number): void {
  for (let i = 0; i < spans.length; i += 3) {
    if (spans[i] !== dimension) continue;
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

  has(versionId: string): boolean {
    return this.#spans.has(versionId);
  }

  set(versionId: string, spans: readonly number[] | undefined): void {
    this.#spans.set(copied(versionId), spans ? Uint32Array.from(spans) : NO_SPANS);
  }

  /** (start, count) pairs of the versions' vectors, by dimension. Throws UnknownVersion. */
  rangesOf(versionIds: readonly string[]): Map<number, number[]> {
    const pairs = new Map<number, number[]>();
    for (const id of versionIds) {
      const spans = this.#spans.get(id);
      if (spans === undefined) throw new UnknownVersion();
      for (let i = 0; i < spans.length; i += 3) {
        const dimension = spans[i] as number;
        const list = pairs.get(dimension) ?? [];
        if (list.length === 0) pairs.set(dimension, list);
        appendRange(list, spans[i + 1] as number, spans[i + 2] as number);
      }
    }
    return pairs;
  }

  /** One line of text per version. Lets other work run in between. */
  async encode(): Promise<string[]> {
    const lines: string[] = [];
    const slice: string[] = [];
    for (const [id, spans] of this.#spans) {
      slice.push(`${id} ${spans.join(" ")}`);
      if (slice.length < INDEX_META_SLICE_VERSIONS) continue;
      lines.push(slice.splice(0).join("\n"));
      await Bun.sleep(0);
    }
    return [...lines, ...slice];
  }

  /** Reads what `encode` has written, line by line. Lets other work run in between. */
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

/** Versions that were added together are usually in a scope together, so their ranges are joined. */
function appendRange(list: number[], start: number, count: number): void {
  const last = list.length - 2;
  if (last >= 0 && (list[last] as number) + (list[last + 1] as number) === start) {
    (list[last + 1] as number) += count;
  } else {
    list.push(start, count);
  }
}

import {
  IMPORT_BATCH_BYTES,
  IMPORT_BATCH_ROWS,
  IMPORT_LINE_MAX_BYTES,
} from "../../shared/limits.ts";
import { LineError } from "../records/line-error.ts";
import { type Line, readLines } from "../records/lines.ts";
import { type Entry, parseLine } from "../records/parse.ts";
import type { Source } from "../records/source.ts";

/** One record, or why it is none. */
export interface Item {
  /** `FILE:LINE`, or the path of a Markdown file. */
  readonly where: string;
  readonly entry: Entry | LineError;
}

const BLANK = /^\s*$/;
const SHORT_LINE_BYTES = 64;

/** The records of NDJSON files, in batches of bounded size. Blank lines are passed over. */
export async function* readItems(
  sources: readonly Source[],
  onRead: (bytes: number) => void,
  onStray: (where: string, field: string) => void,
): AsyncGenerator<Item[]> {
  const batch = new Batch();
  for (const source of sources) {
    let last = 0;
    try {
      for await (const lines of readLines(source.open(onRead), IMPORT_LINE_MAX_BYTES)) {
        for (const line of lines) {
          last = line.number;
          const item = itemOf(line, source.name, onStray);
          if (item === undefined) continue;
          const size = line.bytes?.length ?? 0;
          if (isBarrier(item) && !batch.empty) yield batch.take();
          batch.add(item, size);
          if (batch.full || isBarrier(item)) yield batch.take();
        }
      }
    } catch (error) {
      const reason = `cannot be read any further: ${(error as Error).message}`;
      batch.add({ where: `${source.name}:${last + 1}`, entry: new LineError(reason) }, 0);
    }
  }
  if (!batch.empty) yield batch.take();
}

/** Groups items into batches of bounded size. */
export class Batch {
  #items: Item[] = [];
  #bytes = 0;
  #rows = 0;

  get empty(): boolean {
    return this.#items.length === 0;
  }

  get full(): boolean {
    return this.#bytes >= IMPORT_BATCH_BYTES || this.#rows >= IMPORT_BATCH_ROWS;
  }

  add(item: Item, bytes: number): void {
    this.#items.push(item);
    this.#bytes += bytes;
    this.#rows += rowsOf(item);
  }

  take(): Item[] {
    const items = this.#items;
    this.#items = [];
    this.#bytes = 0;
    this.#rows = 0;
    return items;
  }
}

function itemOf(
  line: Line,
  name: string,
  onStray: (where: string, field: string) => void,
): Item | undefined {
  const where = `${name}:${line.number}`;
  if (line.bytes === null) {
    const reason = `is longer than ${IMPORT_LINE_MAX_BYTES} bytes`;
    return { where, entry: new LineError(reason) };
  }
  if (line.bytes.length < SHORT_LINE_BYTES && BLANK.test(Buffer.from(line.bytes).toString())) {
    return undefined;
  }
  try {
    return { where, entry: parseLine(line.bytes, (field) => onStray(where, field)) };
  } catch (error) {
    if (error instanceof LineError) return { where, entry: error };
    throw error;
  }
}

/** A release that freezes a working set must see all before it and nothing behind it. */
function isBarrier({ entry }: Item): boolean {
  if (entry instanceof LineError) return false;
  return entry.kind === "release" && entry.record.environment !== undefined;
}

/** About how many rows the item becomes. */
function rowsOf({ entry }: Item): number {
  if (entry instanceof LineError) return 1;
  if (entry.kind === "project") return 1 + (entry.record.members?.length ?? 0);
  if (entry.kind !== "file") return 1;
  const { chunks, environments, releases } = entry.record;
  return 1 + chunks.length + environments.length + releases.length;
}

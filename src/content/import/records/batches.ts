import { ImportError, RecordError } from "../../../documents/errors.ts";
import { IMPORT_BATCH_BYTES, IMPORT_LINE_MAX_BYTES } from "../../../domain/limits.ts";
import { Problem } from "../../../domain/problem/problem.ts";
import { type Line, readLines } from "./lines.ts";
import { parseLine } from "./parse.ts";
import type { ParsedRecord } from "./parsed-record.ts";
import type { Source } from "./source.ts";
import type { ImportTarget } from "./target.ts";

const IMPORT_BATCH_ROWS = 5_000;

/** A record with its position in the input, or the reason why it is invalid. */
export interface InputRecord {
  /** `FILE:LINE`, or the path of a Markdown file. */
  readonly where: string;
  readonly parsed: ParsedRecord | RecordError;
}

const SHORT_LINE_BYTES = 64;

/** True for a first line that has nothing but the byte order mark of its file. */
function isMarkOnly(bytes: Uint8Array): boolean {
  return /^\s*$/.test(Buffer.from(bytes).toString());
}

interface ReadOptions {
  /** Receives the size of each piece of the input before decompression. */
  readonly onRead?: (bytes: number) => void;
  readonly onUnknownField?: (where: string, field: string) => void;
  /** The only project that the records may belong to. */
  readonly target?: ImportTarget;
}

/**
 * Reads the records of NDJSON sources in batches of bounded size. An unreadable part of a source counts as one invalid
 * record, unless the source throws an ImportError or a problem.
 */
export async function* readBatches(
  sources: readonly Source[],
  { onRead = () => {}, ...options }: ReadOptions,
): AsyncGenerator<InputRecord[]> {
  const batch = new BatchBuilder();
  for (const source of sources) {
    let last = 0;
    try {
      for await (const lines of readLines(source.open(onRead), IMPORT_LINE_MAX_BYTES)) {
        for (const line of lines) {
          last = line.number;
          const record = inputRecord(line, source.name, options);
          if (record === undefined) continue;
          const size = line.bytes?.length ?? 0;
          if (isBarrier(record) && !batch.empty) yield batch.take();
          batch.add(record, size);
          if (batch.full || isBarrier(record)) yield batch.take();
        }
      }
    } catch (error) {
      if (error instanceof ImportError || error instanceof Problem) throw error;
      const reason = `the rest of the file cannot be read: ${(error as Error).message}`;
      batch.add({ where: `${source.name}:${last + 1}`, parsed: new RecordError(reason) }, 0);
    }
  }
  if (!batch.empty) yield batch.take();
}

/** Groups records into batches of bounded size. */
export class BatchBuilder {
  #records: InputRecord[] = [];
  #bytes = 0;
  #rows = 0;

  get empty(): boolean {
    return this.#records.length === 0;
  }

  get full(): boolean {
    return this.#bytes >= IMPORT_BATCH_BYTES || this.#rows >= IMPORT_BATCH_ROWS;
  }

  /** `bytes` is the size of the record in the input. */
  add(record: InputRecord, bytes: number): void {
    this.#records.push(record);
    this.#bytes += bytes;
    this.#rows += countRows(record);
  }

  /** Returns the batch and starts a new one. */
  take(): InputRecord[] {
    const records = this.#records;
    this.#records = [];
    this.#bytes = 0;
    this.#rows = 0;
    return records;
  }
}

function inputRecord(
  line: Line,
  name: string,
  { onUnknownField = () => {}, target }: ReadOptions,
): InputRecord | undefined {
  const where = `${name}:${line.number}`;
  if (line.bytes === null) {
    const reason = `is longer than ${IMPORT_LINE_MAX_BYTES} bytes`;
    return { where, parsed: new RecordError(reason) };
  }
  if (line.number === 1 && line.bytes.length < SHORT_LINE_BYTES && isMarkOnly(line.bytes)) {
    return undefined;
  }
  try {
    const parsed = parseLine(line.bytes, (field) => onUnknownField(where, field), target);
    return { where, parsed };
  } catch (error) {
    if (error instanceof RecordError) return { where, parsed: error };
    throw error;
  }
}

/**
 * A release that copies a working set must see the records before it and none after it, so it is a
 * batch of its own.
 */
function isBarrier({ parsed }: InputRecord): boolean {
  if (parsed instanceof RecordError) return false;
  return parsed.kind === "release" && parsed.record.environment !== undefined;
}

/** Estimates how many rows the record is written as. */
function countRows({ parsed }: InputRecord): number {
  if (parsed instanceof RecordError) return 1;
  if (parsed.kind === "project") return 1 + (parsed.record.members?.length ?? 0);
  if (parsed.kind !== "file") return 1;
  const { chunks, environments, releases } = parsed.record;
  return 1 + chunks.length + environments.length + releases.length;
}

import { isUtf8 } from "node:buffer";
import { resolve } from "node:path";
import { ImportError, RecordError } from "../../../documents/errors.ts";
import { foreignReader } from "../../../documents/foreign/foreign-reader.ts";
import { numberOf } from "../../../domain/json/parse.ts";
import { IMPORT_LINE_MAX_BYTES } from "../../../domain/limits.ts";
import { readLines } from "../records/lines.ts";
import { fileSource } from "../records/source.ts";

/** A row of a table with its position in the input, or why it cannot be read. */
export interface TableRow {
  /** `FILE:LINE`, or `FILE:ROW` of a Parquet file; both count from 1. */
  readonly where: string;
  readonly values: Readonly<Record<string, unknown>> | { readonly reason: string };
}

const PARQUET = /\.parquet$/i;

/** True for a file that only a column map can import. */
export function isParquet(file: string): boolean {
  return PARQUET.test(file);
}

/**
 * The size of the files in bytes, before decompression; null if it is unknown. Throws an ImportError if
 * one cannot be read.
 */
export async function sizeOfTables(files: readonly string[]): Promise<number | null> {
  let total = 0;
  for (const file of files) {
    const { size } = await fileSource(file);
    if (size === null) return null;
    total += size;
  }
  return total;
}

/**
 * The rows of a Parquet file or of JSON lines, in groups of bounded size. `onRead` receives the bytes
 * that were read, before decompression; those of a Parquet file are in proportion to its rows. Throws an
 * ImportError.
 */
export async function* readRows(
  file: string,
  onRead: (bytes: number) => void,
): AsyncGenerator<TableRow[]> {
  yield* isParquet(file) ? parquetRows(file, onRead) : jsonRows(file, onRead);
}

async function* parquetRows(
  name: string,
  onRead: (bytes: number) => void,
): AsyncGenerator<TableRow[]> {
  const size = (await fileSource(name)).size ?? 0;
  if (size === 0) return;
  try {
    for (let start = 0; ; ) {
      const { rows, of } = await foreignReader.read({ kind: "rows", file: resolve(name), start });
      if (rows.length === 0) return;
      onRead((size * rows.length) / of);
      yield rows.map((values, i) => ({ where: `${name}:${start + i + 1}`, values }));
      start += rows.length;
      if (start >= of) return;
    }
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    throw new ImportError(`${name} ${error.message}`);
  }
}

async function* jsonRows(
  name: string,
  onRead: (bytes: number) => void,
): AsyncGenerator<TableRow[]> {
  const source = await fileSource(name);
  for await (const lines of readLines(source.open(onRead), IMPORT_LINE_MAX_BYTES)) {
    yield lines.flatMap(({ number, bytes }) => {
      const where = `${name}:${number}`;
      if (bytes === null) {
        return [{ where, values: { reason: `is longer than ${IMPORT_LINE_MAX_BYTES} bytes` } }];
      }
      if (!isUtf8(bytes)) return [{ where, values: { reason: "is not valid UTF-8" } }];
      const text = decoder.decode(bytes);
      return text.trim() === "" ? [] : [{ where, values: parsedRow(text) }];
    });
  }
}

/** Decodes lines, without the byte order mark with which some programs begin a file. */
const decoder = new TextDecoder();

/** A number of a row. An integer that no double holds is a text, as that of a Parquet column. */
function cellOf(source: string): unknown {
  const isLong = /^-?\d+$/.test(source) && !Number.isSafeInteger(Number(source));
  return isLong ? source : numberOf(source);
}

function parsedRow(text: string): TableRow["values"] {
  try {
    const value: unknown = JSON.parse(text, (_, cell: unknown, context?: { source: string }) =>
      typeof cell === "number" ? cellOf((context as { source: string }).source) : cell,
    );
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
    return { reason: "must be a JSON object" };
  } catch {
    return { reason: "is not valid JSON" };
  }
}

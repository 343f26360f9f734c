import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
} from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { RecordError } from "../../../documents/errors.ts";
import type { TableRows } from "../../../documents/foreign/protocol.ts";
import { TABLE_ROWS_PER_READ } from "../../../domain/limits.ts";

interface OpenTable {
  readonly name: string;
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
}

/** The table that is being read. */
let open: OpenTable | undefined;

/** Some rows of a Parquet file, from one on. Throws a RecordError. */
export async function readParquetRows(name: string, start: number): Promise<TableRows> {
  try {
    if (start === 0 || open?.name !== name) {
      const file = await asyncBufferFromFile(name);
      open = { name, file, metadata: await parquetMetadataAsync(file) };
    }
    return await rowsOf(open, start);
  } catch (error) {
    throw new RecordError(`cannot be read as Parquet: ${(error as Error).message}`);
  }
}

async function rowsOf({ file, metadata }: OpenTable, rowStart: number): Promise<TableRows> {
  const of = Number(metadata.num_rows);
  const rowEnd = Math.min(of, rowStart + TABLE_ROWS_PER_READ);
  // Columns of bytes are text if they are valid UTF-8, which chunkOf decides.
  const rows = await parquetReadObjects({
    file,
    metadata,
    compressors,
    rowStart,
    rowEnd,
    utf8: false,
  });
  // A forged count would never be reached.
  if (rows.length < rowEnd - rowStart) throw new Error("its footer counts more rows than it has");
  return { rows: rows.map(compact), of };
}

/** A row whose lists of numbers, such as embeddings, are sent to another process in a fraction of the time. */
function compact(row: Record<string, unknown>): Record<string, unknown> {
  for (const [column, value] of Object.entries(row)) {
    if (!Array.isArray(value) || !value.every((each) => typeof each === "number")) continue;
    const floats = Float32Array.from(value);
    row[column] = value.every((each, i) => each === floats[i]) ? floats : Float64Array.from(value);
  }
  return row;
}

import { isUtf8 } from "node:buffer";
import { encodeEmbedding } from "../../../documents/embedding.ts";
import { RecordError } from "../../../documents/errors.ts";
import { isWrittenNumber } from "../../../domain/json/parse.ts";
import type { Embedder } from "../../../embed/embedders/embedder.ts";
import type { InputRecord } from "../records/batches.ts";
import { parseRecord } from "../records/parse.ts";
import type { ColumnMap } from "./column-map.ts";
import type { TableRow } from "./rows.ts";

/** A passage of a table. */
interface TableChunk {
  readonly content: string;
  /** An array of numbers or base64; undefined if the content is to be embedded, null if it has no embedding. */
  embedding: unknown;
  readonly metadata: Record<string, unknown>;
}

/** Rows in succession with the same path. */
export interface TableFile {
  readonly where: string;
  readonly path: string;
  readonly chunks: TableChunk[];
}

/**
 * The path and the chunk of a row. `onBinary` is called with each column of bytes that are not text, which
 * metadata cannot hold. Throws a RecordError.
 */
export function chunkOf(
  { values }: TableRow,
  { path: pathColumn, text, embedding }: ColumnMap,
  onBinary: (column: string) => void,
): { path: string; chunk: TableChunk } {
  if ("reason" in values && typeof values.reason === "string" && !(text in values)) {
    throw new RecordError(values.reason);
  }
  const { [pathColumn]: id, [text]: content, ...others } = values as Record<string, unknown>;
  const path = textIn(id, pathColumn);
  if (typeof path !== "string" && typeof path !== "number" && typeof path !== "bigint") {
    throw new RecordError(`${pathColumn}: must be text or a number`);
  }
  const passage = textIn(content, text);
  if (typeof passage !== "string") throw new RecordError(`${text}: must be text`);
  const vector = embedding === undefined ? undefined : embeddingOf(others[embedding], embedding);
  if (embedding !== undefined) delete others[embedding];
  for (const [column, value] of Object.entries(others)) {
    if (!(value instanceof Uint8Array)) continue;
    if (isUtf8(value)) {
      others[column] = decoder.decode(value);
      continue;
    }
    delete others[column];
    onBinary(column);
  }
  const metadata = plain(others) as Record<string, unknown>;
  return { path: String(path), chunk: { content: passage, embedding: vector, metadata } };
}

const decoder = new TextDecoder();

/** A value of a column of text, which may be stored as bytes. */
function textIn(value: unknown, column: string): unknown {
  if (!(value instanceof Uint8Array)) return value;
  if (!isUtf8(value)) throw new RecordError(`${column}: is not valid UTF-8`);
  return decoder.decode(value);
}

/** A row without an embedding keeps its text. */
function embeddingOf(value: unknown, column: string): unknown {
  if (value === null) return null;
  if (typeof value === "string") return value;
  // Bytes are those of float32 numbers.
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (ArrayBuffer.isView(value))
    return encodeEmbedding(Float32Array.from(value as Float32Array)).base64;
  if (Array.isArray(value)) {
    return value.map((element) => (isWrittenNumber(element) ? Number(element.rawJSON) : element));
  }
  throw new RecordError(`${column}: must be an array of numbers or a base64 string`);
}

/** A value as JSON can express it: Parquet has 64-bit integers, times and bytes. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") {
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  }
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) return Array.from(value as Uint8Array, plain);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null || isWrittenNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]));
}

/** Embeds the chunks that have no embedding. */
export async function embedMissing(files: readonly TableFile[], embedder: Embedder): Promise<void> {
  const missing = files.flatMap(({ chunks }) =>
    chunks.filter((each) => each.embedding === undefined),
  );
  const vectors = await embedder.embedPassages(
    missing.map(({ content }) => ({ content, headings: [] })),
  );
  for (const [i, chunk] of missing.entries()) {
    const vector = vectors[i];
    if (vector) chunk.embedding = encodeEmbedding(vector).base64;
  }
}

/** The record of a file. */
export function fileRecord(
  { where, path, chunks }: TableFile,
  project: string,
  environments: readonly string[],
): InputRecord {
  const content = chunks.map((chunk) => chunk.content).join("\n\n");
  const record = {
    record: "file",
    project,
    path,
    environments: [...environments],
    content,
    chunks,
  };
  try {
    return { where, parsed: parseRecord(record) };
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    return { where, parsed: error };
  }
}

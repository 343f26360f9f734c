import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { exactSearch, MetricKind } from "usearch";
import { DIMENSIONS } from "../../src/domain/limits.ts";

/** Vectors one after another, as a file or a generator gives them. */
export interface Matrix {
  readonly rows: number;
  readonly dimension: number;
  readonly values: Float32Array<ArrayBuffer>;
}

/** One vector of a matrix, in memory of its own. */
export const rowOf = ({ values, dimension }: Matrix, row: number): Float32Array<ArrayBuffer> =>
  values.slice(row * dimension, (row + 1) * dimension);

/** The rows that are nearest to a query by cosine, the nearest first, and their scores, by brute force. */
export function nearestRows(
  { values, dimension, rows }: Matrix,
  query: Float32Array,
  limit: number,
) {
  const wanted = Math.min(limit, rows);
  if (wanted === 0) return { rows: [], scores: [] };
  const found = exactSearch(values, query, dimension, wanted, MetricKind.Cos, 0);
  return {
    rows: Array.from(found.keys as BigUint64Array, Number),
    scores: Array.from(found.distances as Float32Array, (distance) => 1 - distance),
  };
}

/** Where vectors are in the Parquet files of well-known data sets. */
export const VECTOR_COLUMNS = ["emb", "embedding", "vector"] as const;

/** The number that 16 bits mean: half precision by IEEE 754. */
function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function halves(bytes: Uint8Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const table = Float32Array.from({ length: 65_536 }, (_, bits) => halfToFloat(bits));
  const halves = new Uint16Array(bytes.slice().buffer);
  return Float32Array.from(halves, (bits) => table[bits] as number);
}

const floats = (bytes: Uint8Array<ArrayBuffer>) => new Float32Array(bytes.slice().buffer);
const doubles = (bytes: Uint8Array<ArrayBuffer>) =>
  Float32Array.from(new Float64Array(bytes.slice().buffer));

function shaped(path: string, values: Float32Array<ArrayBuffer>, dimension: number): Matrix {
  if (
    !Number.isInteger(dimension) ||
    dimension < 1 ||
    values.length === 0 ||
    values.length % dimension !== 0
  ) {
    throw new Error(`${path}: ${values.length} elements are no vectors of dimension ${dimension}`);
  }
  return { rows: values.length / dimension, dimension, values };
}

/** The length of rows that each begin with their number of elements, as 32-bit words. */
function rowLength(path: string, bytes: Uint8Array<ArrayBuffer>): number {
  const words = bytes.length % 4 === 0 ? new Int32Array(bytes.slice().buffer) : new Int32Array();
  const [length = 0] = words;
  const isEven = length > 0 && words.length % (length + 1) === 0;
  if (!isEven || words.some((word, i) => i % (length + 1) === 0 && word !== length)) {
    throw new Error(`${path} does not have rows of equal length`);
  }
  return length;
}

/** Rows that each begin with their number of elements. */
function fromFvecs(path: string, bytes: Uint8Array<ArrayBuffer>): Matrix {
  const dimension = rowLength(path, bytes);
  const words = floats(bytes);
  const rows = words.length / (dimension + 1);
  const values = new Float32Array(rows * dimension);
  for (let row = 0; row < rows; row++) {
    const start = row * (dimension + 1) + 1;
    values.set(words.subarray(start, start + dimension), row * dimension);
  }
  return { rows, dimension, values };
}

const NPY_TYPES: Readonly<
  Record<string, (bytes: Uint8Array<ArrayBuffer>) => Float32Array<ArrayBuffer>>
> = { "<f2": halves, "<f4": floats, "<f8": doubles };

function fromNpy(path: string, bytes: Uint8Array<ArrayBuffer>): Matrix {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // The length of the header has 2 bytes in version 1, and 4 in later ones.
  const isFirst = bytes[6] === 1;
  const start = isFirst ? 10 : 12;
  const end = start + (isFirst ? view.getUint16(8, true) : view.getUint32(8, true));
  const header = new TextDecoder("latin1").decode(bytes.subarray(start, end));
  const type = /'descr': '([^']+)'/.exec(header)?.[1] ?? "";
  const shape = /'shape': \((\d+), (\d+)\)/.exec(header);
  const read = NPY_TYPES[type];
  if (read === undefined || shape === null || !header.includes("'fortran_order': False")) {
    throw new Error(`${path} is no array of rows in float16, float32 or float64: ${header.trim()}`);
  }
  return shaped(path, read(bytes.subarray(end)), Number(shape[2]));
}

async function fromParquet(path: string, column: string | undefined): Promise<Matrix> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import(
    "hyparquet"
  );
  const { compressors } = await import("hyparquet-compressors");
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  // The first element of a schema is its root, and nested ones belong to lists.
  const columns = new Set(
    metadata.row_groups.flatMap((group) =>
      group.columns.map((part) => part.meta_data?.path_in_schema[0] ?? ""),
    ),
  );
  const name = column ?? VECTOR_COLUMNS.find((candidate) => columns.has(candidate));
  if (name === undefined || !columns.has(name)) {
    const wanted = column ?? VECTOR_COLUMNS.join(", ");
    throw new Error(`${path} has no column ${wanted}, only ${[...columns].join(", ")}`);
  }
  const options = { file, metadata, columns: [name], compressors };
  const read = (await parquetReadObjects(options)) as Record<string, ArrayLike<number>>[];
  const rows = read.map((row) => row[name]);
  const dimension = rows[0]?.length ?? 0;
  const values = new Float32Array(rows.length * dimension);
  for (const [i, row] of rows.entries()) {
    if (row?.length !== dimension || dimension === 0) {
      throw new Error(`${path}: row ${i} of ${name} is not a list of ${dimension} numbers`);
    }
    values.set(Float32Array.from(row, Number), i * dimension);
  }
  return { rows: rows.length, dimension, values };
}

/**
 * Reads what `readVectors` reads, and `.parquet`.
 * @param column the column of lists in a Parquet file; default: the first of VECTOR_COLUMNS in it
 */
export async function loadVectors(
  path: string,
  { dimension, column }: { readonly dimension: number; readonly column?: string | undefined },
): Promise<Matrix> {
  if (extname(path) === ".parquet") return await fromParquet(path, column);
  return readVectors(path, dimension);
}

/** Reads `.ivecs`: per query, the numbers of its true nearest rows, the nearest first. */
export function readNeighbours(path: string): Int32Array[] {
  if (extname(path) !== ".ivecs") throw new Error(`${path} is not an .ivecs file`);
  const bytes = new Uint8Array(readFileSync(path));
  const length = rowLength(path, bytes);
  const words = new Int32Array(bytes.buffer, 0, bytes.length / 4);
  return Array.from({ length: words.length / (length + 1) }, (_, row) =>
    words.slice(row * (length + 1) + 1, (row + 1) * (length + 1)),
  );
}

/**
 * Reads `.f32` and `.f16` (little-endian elements of a given dimension), `.fvecs`, and `.npy`.
 * @param dimension only needed for `.f32` and `.f16`
 */
export function readVectors(path: string, dimension: number): Matrix {
  const bytes = new Uint8Array(readFileSync(path));
  switch (extname(path)) {
    case ".f32":
      return shaped(path, floats(bytes), dimension);
    case ".f16":
      return shaped(path, halves(bytes), dimension);
    case ".fvecs":
      return fromFvecs(path, bytes);
    case ".npy":
      return fromNpy(path, bytes);
    default:
      throw new Error(`${path} is not a .f32, .f16, .fvecs, .npy or .parquet file`);
  }
}

/** The same vectors in the next larger dimension that an index can have, filled up with zeros. */
export function padded({ rows, dimension, values }: Matrix): Matrix {
  const wider = DIMENSIONS.find((candidate) => candidate >= dimension);
  if (wider === undefined) throw new Error(`there is no index of dimension ${dimension}`);
  if (wider === dimension) return { rows, dimension, values };
  const wide = new Float32Array(rows * wider);
  for (let row = 0; row < rows; row++) {
    wide.set(values.subarray(row * dimension, (row + 1) * dimension), row * wider);
  }
  return { rows, dimension: wider, values: wide };
}

import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { DIMENSIONS } from "../src/shared/limits.ts";

/** Vectors one after another, as a file or a generator gives them. */
export interface Matrix {
  readonly rows: number;
  readonly dimension: number;
  readonly values: Float32Array<ArrayBuffer>;
}

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
  if (dimension < 1 || values.length % dimension !== 0) {
    throw new Error(`${path}: ${values.length} elements are no vectors of dimension ${dimension}`);
  }
  return { rows: values.length / dimension, dimension, values };
}

/** Rows that each begin with their number of elements. */
function fromFvecs(path: string, bytes: Uint8Array<ArrayBuffer>): Matrix {
  const words = floats(bytes);
  const dimension = new Int32Array(words.buffer, 0, 1)[0] as number;
  const rows = words.length / (dimension + 1);
  if (!Number.isInteger(rows)) throw new Error(`${path} does not have rows of equal length`);
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
      throw new Error(`${path} is not a .f32, .f16, .fvecs or .npy file`);
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

import { DIMENSIONS } from "../../shared/limits.ts";
import { isDimension, vectorFault } from "../../shared/vector.ts";
import { LineError } from "../records/line-error.ts";

export interface Embedding {
  readonly dimension: number;
  /** Little-endian float32, as PostgreSQL's decode() takes it. */
  readonly base64: string;
}

const BYTES_PER_ELEMENT = 4;
const SIZES = DIMENSIONS.join(", ");

/** The stored form of a vector of finite numbers that is not all zeroes. */
export function embeddingOf(vector: Float32Array): Embedding {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return { dimension: vector.length, base64: bytes.toString("base64") };
}

/**
 * Reads an embedding: an array of numbers, or base64 of little-endian float32. Throws a LineError
 * that begins with `field` (with the index where one element is at fault).
 */
export function readEmbedding(value: unknown, field: string): Embedding {
  if (typeof value === "string") return fromBase64(value, field);
  if (!Array.isArray(value)) {
    throw new LineError(`${field}: must be an array of numbers or a base64 string`);
  }
  requireDimension(value.length, field);
  const vector = new Float32Array(value.length);
  for (let i = 0; i < value.length; i++) {
    const element: unknown = value[i];
    if (typeof element !== "number") throw new LineError(`${field}[${i}]: must be a number`);
    vector[i] = element;
  }
  requireDirection(vector, field);
  return embeddingOf(vector);
}

function fromBase64(text: string, field: string): Embedding {
  const bytes = Buffer.from(text, "base64");
  const canonical = bytes.toString("base64");
  // Decoding skips what it does not know; only text that comes back the same was base64 throughout.
  if (canonical !== text && canonical.replace(/=+$/, "") !== text) {
    throw new LineError(`${field}: is not valid base64`);
  }
  if (bytes.length % BYTES_PER_ELEMENT !== 0) {
    throw new LineError(`${field}: must hold whole little-endian float32 numbers`);
  }
  requireDimension(bytes.length / BYTES_PER_ELEMENT, field);
  // A copy of its own starts at an offset that the number view can use.
  requireDirection(new Float32Array(new Uint8Array(bytes).buffer), field);
  return { dimension: bytes.length / BYTES_PER_ELEMENT, base64: canonical };
}

function requireDimension(length: number, field: string): void {
  if (!isDimension(length)) {
    throw new LineError(`${field}: has ${length} elements, must have one of ${SIZES}`);
  }
}

function requireDirection(vector: Float32Array, field: string): void {
  const fault = vectorFault(vector);
  if (fault === "not-finite") {
    const index = vector.findIndex((element) => !Number.isFinite(element));
    throw new LineError(`${field}[${index}]: must be a finite number within float32's range`);
  }
  if (fault === "all-zeros") throw new LineError(`${field}: must not be all zeroes`);
}

import { DIMENSIONS } from "../../shared/limits.ts";
import { base64Of, floatsOf, isDimension, vectorFault } from "../../shared/vector.ts";
import { RecordError } from "./errors.ts";

interface EncodedEmbedding {
  readonly dimension: number;
  /** Base64 of little-endian float32. */
  readonly base64: string;
}

const BYTES_PER_ELEMENT = 4;
const SIZES = DIMENSIONS.join(", ");

/** Encodes a vector. Its elements must be finite and not all zeros. */
export function encodeEmbedding(vector: Float32Array): EncodedEmbedding {
  return { dimension: vector.length, base64: base64Of(vector) };
}

/**
 * Validates an embedding given as an array of numbers or as base64 of little-endian float32. Throws a
 * RecordError that begins with `field`, followed by the index if a single element is invalid.
 */
export function parseEmbedding(value: unknown, field: string): EncodedEmbedding {
  if (typeof value === "string") return fromBase64(value, field);
  if (!Array.isArray(value)) {
    throw new RecordError(`${field}: must be an array of numbers or a base64 string`);
  }
  requireDimension(value.length, field);
  const vector = new Float32Array(value.length);
  for (let i = 0; i < value.length; i++) {
    const element: unknown = value[i];
    if (typeof element !== "number") throw new RecordError(`${field}[${i}]: must be a number`);
    vector[i] = element;
  }
  requireUsable(vector, field);
  return encodeEmbedding(vector);
}

function fromBase64(text: string, field: string): EncodedEmbedding {
  const bytes = Buffer.from(text, "base64");
  const canonical = bytes.toString("base64");
  // Buffer.from skips invalid characters, so compare the text with what the bytes encode to.
  if (canonical !== text && canonical.replace(/=+$/, "") !== text) {
    throw new RecordError(`${field}: is not valid base64`);
  }
  if (bytes.length % BYTES_PER_ELEMENT !== 0) {
    throw new RecordError(`${field}: must encode a whole number of little-endian float32 values`);
  }
  requireDimension(bytes.length / BYTES_PER_ELEMENT, field);
  requireUsable(floatsOf(bytes), field);
  return { dimension: bytes.length / BYTES_PER_ELEMENT, base64: canonical };
}

function requireDimension(length: number, field: string): void {
  if (!isDimension(length)) {
    throw new RecordError(`${field}: has ${length} elements, must have one of ${SIZES}`);
  }
}

function requireUsable(vector: Float32Array, field: string): void {
  const fault = vectorFault(vector);
  if (fault === "not-finite") {
    const index = vector.findIndex((element) => !Number.isFinite(element));
    throw new RecordError(`${field}[${index}]: must be a finite number in the range of float32`);
  }
  if (fault === "all-zeros") throw new RecordError(`${field}: must not be all zeros`);
}

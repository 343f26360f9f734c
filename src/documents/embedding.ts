import { EMBEDDER_DIMENSION_MAX } from "../domain/limits.ts";
import { base64Of, floatsOf, isDimension, padded, vectorFault } from "../domain/vector.ts";
import { RecordError } from "./errors.ts";

interface EncodedEmbedding {
  readonly dimension: number;
  /** Base64 of little-endian float32. */
  readonly base64: string;
}

const BYTES_PER_ELEMENT = 4;

/** Encodes a vector, with zeros up to a stored dimension. Its elements must be finite and not all zeros. */
export function encodeEmbedding(vector: Float32Array): EncodedEmbedding {
  const whole = padded(vector);
  return { dimension: whole.length, base64: base64Of(whole) };
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
  requireLength(value.length, field);
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
  // Buffer.from skips invalid characters, so the text is compared with the base64 of the bytes.
  if (canonical !== text && canonical.replace(/=+$/, "") !== text) {
    throw new RecordError(`${field}: is not valid base64`);
  }
  if (bytes.length % BYTES_PER_ELEMENT !== 0) {
    throw new RecordError(`${field}: must encode a whole number of little-endian float32 values`);
  }
  const length = bytes.length / BYTES_PER_ELEMENT;
  requireLength(length, field);
  const vector = floatsOf(bytes);
  requireUsable(vector, field);
  return isDimension(length) ? { dimension: length, base64: canonical } : encodeEmbedding(vector);
}

function requireLength(length: number, field: string): void {
  if (length >= 1 && length <= EMBEDDER_DIMENSION_MAX) return;
  throw new RecordError(
    `${field}: has ${length} elements, must have 1 to ${EMBEDDER_DIMENSION_MAX}`,
  );
}

function requireUsable(vector: Float32Array, field: string): void {
  const fault = vectorFault(vector);
  if (fault === "not-finite") {
    const index = vector.findIndex((element) => !Number.isFinite(element));
    throw new RecordError(`${field}[${index}]: must be a finite number in the range of float32`);
  }
  if (fault === "all-zeros") throw new RecordError(`${field}: must not be all zeros`);
}

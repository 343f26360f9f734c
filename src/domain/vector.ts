import { DIMENSIONS } from "./limits.ts";

const KNOWN_DIMENSIONS: ReadonlySet<number> = new Set(DIMENSIONS);

/** The reason why a vector can be neither stored nor searched for. */
type VectorFault = "not-finite" | "all-zeros" | "unknown-dimension";

/** True when vectors may have this many elements. */
export function isDimension(length: number): boolean {
  return KNOWN_DIMENSIONS.has(length);
}

/**
 * The dimension in which the vectors of an embedder are stored: the first of `DIMENSIONS` that has room for them.
 *
 * @param length 1 to `EMBEDDER_DIMENSION_MAX`
 */
export function storedDimension(length: number): number {
  return DIMENSIONS.find((dimension) => dimension >= length) as number;
}

/** A vector with zeros up to its stored dimension. They do not change its cosine similarities. */
export function padded(vector: Float32Array): Float32Array {
  if (isDimension(vector.length)) return vector;
  const whole = new Float32Array(storedDimension(vector.length));
  whole.set(vector);
  return whole;
}

/** The bytes of a vector, little-endian float32, in base64. */
export function base64Of({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/** Bun only runs on little-endian machines, so the bytes need no conversion. A copy aligns them. */
export function floatsOf(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  return new Float32Array(new Uint8Array(bytes).buffer);
}

/**
 * The fault of a vector, or undefined: every element must be finite, at least one must not be zero, and the length must
 * be a known dimension. Faults of elements take precedence over that of the length.
 */
export function vectorFault(vector: Float32Array): VectorFault | undefined {
  let zero = true;
  let sum = 0;
  // One pass without branches on finiteness: infinity and NaN times zero are NaN.
  // By index: an iterator takes ten times as long, and every received or stored vector is checked.
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] as number;
    sum += value * 0;
    if (value !== 0) zero = false;
  }
  if (sum !== 0) return "not-finite";
  if (zero) return "all-zeros";
  return isDimension(vector.length) ? undefined : "unknown-dimension";
}

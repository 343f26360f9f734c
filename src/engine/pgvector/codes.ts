/** Rounds of sign flips and transforms. After two, even a vector with one non-zero element looks random. */
const ROUNDS = 2;

/** The splitmix32 generator: the signs must be the same in every process, because codes are stored. */
function signs(dimension: number): Int8Array {
  let state = 0x7e55e2a ^ dimension;
  return Int8Array.from({ length: ROUNDS * dimension }, () => {
    state = (state + 0x9e3779b9) | 0;
    let value = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    value = Math.imul(value ^ (value >>> 15), 0x735a2d97);
    return (value ^ (value >>> 15)) < 0 ? -1 : 1;
  });
}

const tables = new Map<number, Int8Array>();

function signsOf(dimension: number): Int8Array {
  const table = tables.get(dimension) ?? signs(dimension);
  tables.set(dimension, table);
  return table;
}

/** The unnormalised Walsh-Hadamard transform of `length` elements from `start` on, in place. */
function hadamard(values: Float32Array, start: number, length: number): void {
  let half = 1;
  // Two rounds at a time read and write every element half as often.
  for (; 4 * half <= length; half *= 4) twoRounds(values, start, length, half);
  if (half === length) return;
  for (let i = start; i < start + half; i++) {
    const low = values[i] as number;
    const high = values[i + half] as number;
    values[i] = low + high;
    values[i + half] = low - high;
  }
}

/** The rounds of the transform that add elements at the distances `half` and twice as much. */
function twoRounds(values: Float32Array, start: number, length: number, half: number): void {
  for (let block = start; block < start + length; block += 4 * half) {
    for (let i = block; i < block + half; i++) {
      const a = values[i] as number;
      const b = values[i + half] as number;
      const c = values[i + 2 * half] as number;
      const d = values[i + 3 * half] as number;
      values[i] = a + b + (c + d);
      values[i + half] = a - b + (c - d);
      values[i + 2 * half] = a + b - (c + d);
      values[i + 3 * half] = a - b - (c - d);
    }
  }
}

/** Mixes three blocks by a reflection in the plane that is normal to (1, 1, 1). */
function mixThirds(values: Float32Array, block: number): void {
  for (let i = 0; i < block; i++) {
    const a = values[i] as number;
    const b = values[i + block] as number;
    const c = values[i + 2 * block] as number;
    const shift = ((a + b + c) * 2) / 3;
    values[i] = a - shift;
    values[i + block] = b - shift;
    values[i + 2 * block] = c - shift;
  }
}

/**
 * The vector at unit length, under a fixed random rotation. It spreads every vector evenly over its
 * elements, so that the sign of each carries about as much information. A dimension is a power of two
 * or three times one. Loops count, because iterators and callbacks take several times as long as the arithmetic.
 */
function rotated(vector: Float32Array): Float32Array<ArrayBuffer> {
  const { length } = vector;
  const block = length & -length;
  const out = new Float32Array(length);
  let squares = 0;
  for (let i = 0; i < length; i++) squares += (vector[i] as number) * (vector[i] as number);
  const scale = 1 / Math.sqrt(squares * block ** ROUNDS);
  for (let i = 0; i < length; i++) out[i] = (vector[i] as number) * scale;
  const flips = signsOf(length);
  for (let round = 0; round < ROUNDS; round++) {
    const first = round * length;
    for (let i = 0; i < length; i++) out[i] = (out[i] as number) * (flips[first + i] as number);
    for (let start = 0; start < length; start += block) hadamard(out, start, block);
    if (block !== length) mixThirds(out, block);
  }
  return out;
}

/** The number of thresholds, and of a code's bits per element. A bit is set if the element exceeds its threshold. */
const THRESHOLDS = 3;

/** The bits of a code. */
export const codeLength = (dimension: number) => THRESHOLDS * dimension;

/**
 * For each threshold the values of all elements after the rotation, which divide a sample of vectors evenly.
 * With three thresholds a search needs a third of the candidates that it needs with one.
 */
export function thresholdsOf(vectors: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const dimension = vectors[0]?.length ?? 0;
  const sample = vectors.map(rotated);
  const thresholds = new Float32Array(codeLength(dimension));
  for (let i = 0; i < dimension; i++) {
    const values = Float32Array.from(sample, (vector) => vector[i] as number).sort();
    for (let t = 0; t < THRESHOLDS; t++) {
      const at = Math.floor((values.length * (t + 1)) / (THRESHOLDS + 1));
      thresholds[t * dimension + i] = values[at] as number;
    }
  }
  return thresholds;
}

/**
 * The code of a vector: a bit per threshold and element, the first one the highest of its byte. The distance of two
 * codes is the number of thresholds between their elements.
 */
export function codeOf(vector: Float32Array, thresholds: Float32Array): Uint8Array<ArrayBuffer> {
  const values = rotated(vector);
  const code = new Uint8Array(thresholds.length / 8);
  for (let byte = 0, at = 0; byte < code.length; byte++, at += 8) {
    // Dimensions are multiples of 8, so a byte belongs to one threshold.
    const first = at % values.length;
    let bits = 0;
    for (let i = 0; i < 8; i++) {
      bits = (bits << 1) | Number((values[first + i] as number) > (thresholds[at + i] as number));
    }
    code[byte] = bits;
  }
  return code;
}

/** A code in the text form of PostgreSQL's `bit`, by hexadecimal digits. */
export function codeText(code: Uint8Array): string {
  return `x${code.toHex()}`;
}

/** The vector in the text form of the type `vector`. Every float32 is read back unchanged. */
export function vectorText(vector: Float32Array): string {
  return `[${vector.join(",")}]`;
}

/** Decimal places of elements that are compared in half precision: their rounding does not add to its own. */
const UNIT_SCALE = 1e6;

/** The vector at unit length in the text form of the type `halfvec`, for which few digits suffice. */
export function unitText(vector: Float32Array): string {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const scale = UNIT_SCALE / Math.sqrt(squares);
  return `[${Array.from(vector, (value) => Math.round(value * scale) / UNIT_SCALE).join()}]`;
}

/** The vector in the bytes of `vector_send`: two counts of 2 bytes, then big-endian float32. */
export function vectorOfBytes(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: view.getUint16(0) }, (_, i) => view.getFloat32(4 + 4 * i));
}

import { describe, expect, test } from "bun:test";
import { DIMENSIONS } from "../../../../src/domain/limits.ts";
import {
  codeLength,
  codeOf,
  codeText,
  thresholdsOf,
  vectorOfBytes,
  vectorText,
} from "../../../../src/engine/pgvector/codes.ts";
import { cosineTo } from "../../../../src/engine/pgvector/found-chunks.ts";
import { cosineOf, nearVector, randomVector } from "../../../../support/api/versions.ts";

/** The bits in which two codes differ. */
function distance(a: Uint8Array, b: Uint8Array): number {
  let bits = 0;
  for (const [i, byte] of a.entries()) {
    for (let rest = byte ^ (b[i] as number); rest > 0; rest &= rest - 1) bits++;
  }
  return bits;
}

describe.each([...DIMENSIONS])("vectors of %d dimensions", (dimension) => {
  const a = randomVector(dimension, 1);
  const b = nearVector(a, 0.8, 2);

  test("with a single element are spread over all elements, so their codes are independent", () => {
    const single = (at: number) => new Float32Array(dimension).fill(5, at, at + 1);
    const thresholds = new Float32Array(codeLength(dimension));
    const codes = [3, 4, dimension - 1].map((at) => codeOf(single(at), thresholds));
    const [x, y, z] = codes as [Uint8Array, Uint8Array, Uint8Array];
    for (const share of [distance(x, y), distance(x, z), distance(y, z)]) {
      expect(share / codeLength(dimension)).toBeCloseTo(0.5, 0);
    }
  });

  test("have codes whose distance tells their angle", () => {
    const thresholds = new Float32Array(codeLength(dimension));
    const share = distance(codeOf(a, thresholds), codeOf(b, thresholds)) / codeLength(dimension);
    expect(share).toBeCloseTo(Math.acos(cosineOf(a, b)) / Math.PI, 1);
    expect(codeOf(a, thresholds)).toHaveLength(codeLength(dimension) / 8);
    expect(codeText(codeOf(a, thresholds))).toMatch(/^x[0-9a-f]+$/);
  });
});

test("codes by thresholds of a sample tell vectors apart that are close to each other", () => {
  const base = randomVector(768, 1);
  const near = Array.from({ length: 50 }, (_, i) => nearVector(base, 0.1, i + 2));
  const [first, second] = near as [Float32Array, Float32Array];
  const own = thresholdsOf(near);
  const zero = new Float32Array(codeLength(768));
  const apart = distance(codeOf(first, own), codeOf(second, own));
  expect(apart).toBeGreaterThan(4 * distance(codeOf(first, zero), codeOf(second, zero)));
});

test("thresholds divide the elements of a sample into equal parts", () => {
  const sample = Array.from({ length: 400 }, (_, i) => randomVector(64, i));
  const thresholds = thresholdsOf(sample);
  const codes = sample.map((vector) => codeOf(vector, thresholds));
  const exceeded = codes.flatMap((code) => [...code]).map((byte) => byte.toString(2));
  const ones = exceeded.join("").replaceAll("0", "").length;
  expect(ones / (sample.length * codeLength(64))).toBeCloseTo(0.5, 1);
});

test("a vector is read back unchanged from the bytes that PostgreSQL sends", () => {
  const vector = randomVector(768, 9);
  const bytes = new DataView(new ArrayBuffer(4 + 768 * 4 + 3), 3);
  bytes.setUint16(0, 768);
  for (const [i, value] of vector.entries()) bytes.setFloat32(4 + 4 * i, value);
  const sent = new Uint8Array(bytes.buffer, 3);
  expect(vectorOfBytes(sent)).toEqual(vector);
});

test("the text of a vector has every bit of its elements", () => {
  const vector = randomVector(768, 10);
  expect(Float32Array.from(JSON.parse(vectorText(vector)))).toEqual(vector);
});

test("scores are cosines from -1 to 1, which is that of a vector with itself", () => {
  for (let seed = 0; seed < 50; seed++) {
    const own = randomVector(768, seed);
    expect(cosineTo(own.map((value) => 3.7 * value))(own)).toBe(1);
  }
  const vector = randomVector(768, 11);
  const score = cosineTo(vector);
  expect(score(vector.map((value) => -2 * value))).toBeCloseTo(-1, 12);
  const other = nearVector(vector, 1, 12);
  expect(score(other)).toBeCloseTo(cosineOf(vector, other), 12);
});

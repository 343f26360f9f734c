import { describe, expect, test } from "bun:test";
import {
  centreOf,
  codeOf,
  vectorOfBytes,
  vectorText,
} from "../../../../src/engine/pgvector/codes.ts";
import { cosineTo } from "../../../../src/engine/pgvector/cosine.ts";
import { DIMENSIONS } from "../../../../src/shared/limits.ts";
import { cosine, nearVector, randomVector } from "../../../../support/api/versions.ts";

const distance = (a: string, b: string) => [...a].filter((bit, i) => bit !== b[i]).length;

describe.each([...DIMENSIONS])("vectors of %d dimensions", (dimension) => {
  const a = randomVector(dimension, 1);
  const b = nearVector(a, 0.8, 2);

  test("with a single element are spread over all elements, so their codes are independent", () => {
    const single = (at: number) => new Float32Array(dimension).fill(5, at, at + 1);
    const centre = new Float32Array(dimension);
    const codes = [3, 4, dimension - 1].map((at) => codeOf(single(at), centre));
    const [x, y, z] = codes as [string, string, string];
    for (const share of [distance(x, y), distance(x, z), distance(y, z)]) {
      expect(share / dimension).toBeCloseTo(0.5, 0);
    }
  });

  test("have codes whose distance tells their angle", () => {
    const centre = new Float32Array(dimension);
    const share = distance(codeOf(a, centre), codeOf(b, centre)) / dimension;
    expect(share).toBeCloseTo(Math.acos(cosine(a, b)) / Math.PI, 1);
    expect(codeOf(a, centre)).toHaveLength(dimension);
  });
});

test("codes around the centre tell vectors apart that are close to each other", () => {
  const base = randomVector(768, 1);
  const near = Array.from({ length: 50 }, (_, i) => nearVector(base, 0.1, i + 2));
  const [first, second] = near as [Float32Array, Float32Array];
  const centred = distance(codeOf(first, centreOf(near)), codeOf(second, centreOf(near)));
  const zero = new Float32Array(768);
  expect(centred).toBeGreaterThan(4 * distance(codeOf(first, zero), codeOf(second, zero)));
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

test("scores are cosines from -1 to 1", () => {
  const vector = randomVector(768, 11);
  const score = cosineTo(vector);
  expect(score(vector)).toBeLessThanOrEqual(1);
  expect(score(vector)).toBeCloseTo(1, 12);
  expect(score(vector.map((value) => -2 * value))).toBeCloseTo(-1, 12);
  const other = nearVector(vector, 1, 12);
  expect(score(other)).toBeCloseTo(cosine(vector, other), 12);
});

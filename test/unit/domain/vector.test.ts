import { expect, test } from "bun:test";
import { vectorFault } from "../../../src/domain/vector.ts";

function vector(length: number, ...elements: number[]): Float32Array {
  const values = new Float32Array(length).fill(1);
  values.set(elements);
  return values;
}

test("a finite vector of a known dimension that is not zero has no fault", () => {
  expect(vectorFault(vector(768))).toBeUndefined();
  expect(vectorFault(new Float32Array(768).fill(0, 1).fill(1e-40, 0, 1))).toBeUndefined();
});

test("a vector with NaN or an infinity is not finite, whatever its length", () => {
  for (const element of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    expect(vectorFault(vector(768, 0, element))).toBe("not-finite");
    expect(vectorFault(vector(3, element))).toBe("not-finite");
  }
});

test("a vector of zeros, of either sign, is all zeros", () => {
  expect(vectorFault(new Float32Array(768).fill(-0, 10))).toBe("all-zeros");
});

test("a sound vector of another length has an unknown dimension", () => {
  expect(vectorFault(vector(767))).toBe("unknown-dimension");
});

import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { randomNumbers } from "../../support/random.ts";
import { upTo } from "./support.ts";

const DIMENSIONS = [768, 1024, 1536, 3072, 4096];
const PLANES = 4;
const sets = testing.kernelSets();
const fastest = sets.at(-1) as string;

const bytesOf = (array: ArrayBufferView<ArrayBuffer>) =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Operands at the extremes and between: all bits zero, all bits one, or random. */
function makeBytes(kind: string, length: number, random: () => number): Uint8Array<ArrayBuffer> {
  if (kind === "zeros") return new Uint8Array(length);
  if (kind === "ones") return new Uint8Array(length).fill(255);
  return Uint8Array.from({ length }, () => Math.floor(random() * 256));
}

const kinds = fc.constantFrom("zeros", "ones", "random", "random");
const seeds = fc.nat(2 ** 31);
/** Every dimension of an index, and other lengths that the kernel accepts. */
const lengths = (step: number, most: number) =>
  fc.oneof(
    fc.constantFrom(...DIMENSIONS),
    fc.integer({ min: 1, max: most / step }).map((steps) => steps * step),
  );

function onesIn(bytes: Uint8Array): number {
  let ones = 0;
  for (let byte of bytes) for (; byte > 0; byte &= byte - 1) ones++;
  return ones;
}

/** The levels of a code: planes of their highest, middle and lowest bits. */
function levelsOf(code: Uint8Array): number[] {
  const bytes = code.length / 3;
  const bit = (plane: number, i: number) =>
    ((code[plane * bytes + (i >> 3)] as number) >> (i & 7)) & 1;
  return upTo(bytes * 8).map((i) => bit(0, i) * 4 + bit(1, i) * 2 + bit(2, i));
}

const and = (a: Uint8Array, b: Uint8Array) => a.map((byte, i) => byte & (b[i] as number));

/** Finite floats of all magnitudes. */
function makeFloats(length: number, magnitude: number, random: () => number) {
  return Float32Array.from({ length }, () => (random() * 2 - 1) * 10 ** (magnitude * random()));
}

function hadamard(values: Float32Array): Float32Array {
  const result = values.slice();
  for (let half = 1; half < result.length; half *= 2) {
    for (let i = 0; i < result.length; i++) {
      if ((i & half) !== 0) continue;
      const a = result[i] as number;
      const b = result[i + half] as number;
      result[i] = Math.fround(a + b);
      result[i + half] = Math.fround(a - b);
    }
  }
  return result;
}

afterAll(() => {
  testing.useKernels(fastest);
  for (const project of native.projects()) native.dropProject(project);
});

test("the portable kernels run everywhere, and an unsupported set is refused", () => {
  expect(sets[0]).toBe("portable");
  if (process.arch === "arm64") expect(sets).toContain("neon");
  expect(() => testing.useKernels("abacus")).toThrow(RangeError);
  expect(() => testing.runKernel("abacus", "dot", new Uint8Array(64), new Uint8Array(64))).toThrow(
    RangeError,
  );
  const odd = new Uint8Array(68);
  const operations = ["dot", "dot3Bit", "dotLevels", "dot1Bit", "hadamard", "roundToBytes"];
  for (const operation of operations) {
    expect(() => testing.runKernel("portable", operation as "dot", odd, odd)).toThrow(TypeError);
  }
});

for (const set of sets) {
  describe(`the ${set} kernels against plain JavaScript`, () => {
    test(`${set} dot1Bit sums the query's elements where a code has a one, for any number of codes`, () => {
      fc.assert(
        fc.property(
          lengths(256, 4096),
          fc.nat(9),
          fc.array(kinds, { minLength: PLANES, maxLength: PLANES }),
          kinds,
          seeds,
          (bits, count, planeKinds, codeKind, seed) => {
            const random = randomNumbers(seed);
            const planes = planeKinds.map((kind) => makeBytes(kind, bits / 8, random));
            const codes = upTo(count).map(() => makeBytes(codeKind, bits / 8, random));
            const sums = testing.runKernel(
              set,
              "dot1Bit",
              new Uint8Array(Buffer.concat(codes)),
              new Uint8Array(Buffer.concat(planes)),
            );
            const truth = codes.map((code) => {
              const [one, two, four, eight] = planes.map((plane) => onesIn(and(code, plane)));
              return (one ?? 0) + 2 * (two ?? 0) + 4 * (four ?? 0) - 8 * (eight ?? 0);
            });
            expect(Array.from(sums)).toEqual(truth);
          },
        ),
      );
    });

    test(`${set} dot3Bit sums the products of levels and signed bytes`, () => {
      fc.assert(
        fc.property(lengths(64, 4096), kinds, seeds, fc.boolean(), (length, kind, seed, most) => {
          const random = randomNumbers(seed);
          const code = makeBytes(kind, (length / 8) * 3, random);
          const element = () => (most ? (random() < 0.5 ? -127 : 127) : random() * 255 - 127);
          const query = Int8Array.from({ length }, element);
          const truth = levelsOf(code).reduce(
            (sum, level, i) => sum + level * (query[i] as number),
            0,
          );
          expect(testing.runKernel(set, "dot3Bit", code, bytesOf(query))).toBe(truth);
        }),
      );
    });

    test(`${set} dotLevels sums the products of the levels of two codes`, () => {
      fc.assert(
        fc.property(lengths(256, 4096), kinds, kinds, seeds, (length, left, right, seed) => {
          const random = randomNumbers(seed);
          const a = makeBytes(left, (length / 8) * 3, random);
          const b = makeBytes(right, (length / 8) * 3, random);
          const others = levelsOf(b);
          const truth = levelsOf(a).reduce(
            (sum, level, i) => sum + level * (others[i] as number),
            0,
          );
          expect(testing.runKernel(set, "dotLevels", a, b)).toBe(truth);
        }),
      );
    });

    test(`${set} dot is exact but for rounding, and equal to the portable one to the last bit`, () => {
      fc.assert(
        fc.property(
          lengths(16, 4096),
          fc.constantFrom(0, 6, 38),
          fc.constantFrom(0, 6, 38),
          seeds,
          (length, left, right, seed) => {
            const random = randomNumbers(seed);
            const a = makeFloats(length, left, random);
            const b = makeFloats(length, right, random);
            let truth = 0;
            let magnitude = 0;
            for (let i = 0; i < length; i++) {
              truth += (a[i] as number) * (b[i] as number);
              magnitude += Math.abs((a[i] as number) * (b[i] as number));
            }
            const dot = testing.runKernel(set, "dot", bytesOf(a), bytesOf(b));
            expect(Math.abs(dot - truth)).toBeLessThanOrEqual(magnitude * 1e-12);
            expect(dot).toBe(testing.runKernel("portable", "dot", bytesOf(a), bytesOf(b)));
          },
        ),
      );
    });

    test(`${set} roundToBytes rounds to whole numbers within the bounds and adds them up`, () => {
      fc.assert(
        fc.property(
          lengths(8, 4096),
          fc.constantFrom(0, 4, 30),
          fc.constantFrom([-8, 7] as const, [-127, 127] as const),
          fc.double({ min: 0.01, max: 100, noNaN: true }),
          seeds,
          (length, magnitude, [min, max], step, seed) => {
            const values = makeFloats(length, magnitude, randomNumbers(seed));
            const inverse = Math.fround(1 / step);
            const truth = Array.from(values, (value) => {
              const scaled = Math.min(Math.max(Math.fround(value * inverse), min), max);
              return Math.trunc(Math.fround(scaled + 128.5)) - 128;
            });
            const parameters = Float32Array.of(inverse, min, max);
            const out = testing.runKernel(
              set,
              "roundToBytes",
              bytesOf(values),
              bytesOf(parameters),
            );
            expect(Array.from(out.subarray(0, length))).toEqual(truth);
            const sum = new DataView(out.buffer).getInt32(length, true);
            expect(sum).toBe(truth.reduce((total, whole) => total + whole, 0));
          },
        ),
      );
    });

    test(`${set} hadamard rounds as plain code does`, () => {
      fc.assert(
        fc.property(fc.integer({ min: 5, max: 12 }), fc.constantFrom(0, 30), seeds, (log, m, s) => {
          const values = makeFloats(2 ** log, m, randomNumbers(s));
          const result = testing.runKernel(set, "hadamard", bytesOf(values), new Uint8Array());
          expect(result).toEqual(hadamard(values) as Float32Array<ArrayBuffer>);
        }),
      );
    });
  });
}

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  parseSearchBody,
  type SearchBody,
  type SearchFaults,
  type VectorFault,
} from "../../native/index.ts";
import { kernelSets, useKernels } from "../../native/testing.ts";
import { PROBLEM_MAX_FIELD_ERRORS } from "../../src/domain/limits.ts";
import { randomNumbers } from "../../support/random.ts";
import { RandomBodies } from "../fuzz/random-bodies.ts";
import { compareBody } from "../fuzz/search-bodies.ts";

const encoder = new TextEncoder();
const DIMENSION = 768;

const body = (text: string) => encoder.encode(text);
const numbers = (count: number, text = "0.5") => Array(count).fill(text).join(",");
const withVector = (elements: string, rest = `"dimension":${DIMENSION}`) =>
  body(`{"vector":[${elements}],${rest}}`);

/** Random bodies of each set of kernels. */
const RANDOM_BODIES = 4_000;

function searchOf(bytes: Uint8Array): SearchBody {
  const parsed = parseSearchBody(bytes);
  if (!("limit" in parsed)) throw new Error(`refused with ${JSON.stringify(parsed)}`);
  return parsed;
}

describe.each(kernelSets())("search bodies, with the kernels %s", (set) => {
  const before = kernelSets().at(-1) as string;
  beforeAll(() => useKernels(set));
  afterAll(() => useKernels(before));

  test("bodies of all kinds are read as JSON.parse and TypeBox read them, and refused in the same words", () => {
    const bodies = new RandomBodies(randomNumbers(1));
    let searches = 0;
    for (let i = 0; i < RANDOM_BODIES; i++) searches += Number(compareBody(bodies.next()));
    // Neither searches nor refusals are rare.
    expect(Math.min(searches, RANDOM_BODIES - searches)).toBeGreaterThan(RANDOM_BODIES / 5);
  });

  test("a truncated body is refused wherever it ends", () => {
    const whole = body(`{"vector":[${numbers(DIMENSION)}],"dimension":${DIMENSION},"limit":5}`);
    expect(parseSearchBody(whole.slice(0, 0))).toEqual({ body: "required" });
    for (let length = 1; length < whole.length; length += 1) {
      expect(parseSearchBody(whole.slice(0, length))).toEqual({ body: "json" });
    }
    expect(searchOf(whole).limit).toBe(5);
  });

  test("numbers near the rounding boundaries of float32 are rounded as Math.fround does", () => {
    const bits = new DataView(new ArrayBuffer(4));
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            bits: fc.integer({ min: 0x38000000, max: 0x3f7fffff }),
            step: fc.integer({ min: -2, max: 2 }),
          }),
          { minLength: DIMENSION, maxLength: DIMENSION },
        ),
        (points) => {
          const texts = points.map((point) => {
            bits.setUint32(0, point.bits);
            const low = bits.getFloat32(0);
            bits.setUint32(0, point.bits + 1);
            const half = (low + bits.getFloat32(0)) / 2;
            return (half * (1 + point.step * Number.EPSILON))
              .toFixed(30)
              .slice(0, 20 + (point.bits % 12));
          });
          expect(compareBody(withVector(texts.join(",")))).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("the faults of a body are its rules that are broken, with the options as they are given", () => {
    const options = { dimension: DIMENSION };
    const fault = (rule: VectorFault["rule"], number = 0) => ({
      vector: [{ rule, number }],
      options,
    });
    const last = (element: string) => withVector(`${numbers(DIMENSION - 1)},${element}`);
    const cases: Record<string, [Uint8Array, SearchFaults]> = {
      "a zero vector": [withVector(numbers(DIMENSION, "-0.0")), fault("zeros")],
      "an element beyond float32": [last("1e39"), fault("float32", DIMENSION - 1)],
      "an element beyond double": [last("-1e400"), fault("float32", DIMENSION - 1)],
      "an element of 401 digits": [last(`1${"0".repeat(400)}`), fault("float32", DIMENSION - 1)],
      // The digits before the point are 2^64, which is 0 as an integer of 64 bits.
      "an element whose digits overflow": [
        last(`18446744073709551616.${"0".repeat(400)}e300`),
        fault("float32", DIMENSION - 1),
      ],
      "a null element": [last("null"), fault("number", DIMENSION - 1)],
      "one element too few": [withVector(numbers(DIMENSION - 1)), fault("length", DIMENSION - 1)],
      "one element too many": [
        withVector(numbers(DIMENSION + 1)),
        fault("dimension", DIMENSION + 1),
      ],
      "far too many elements": [withVector(numbers(9_999)), fault("length", 9_999)],
      "no vector": [body(`{"dimension":${DIMENSION}}`), fault("required")],
      "an object for the vector": [body(`{"vector":{},"dimension":${DIMENSION}}`), fault("form")],
      "options of all kinds": [
        withVector(numbers(DIMENSION), `"dimension":1e400,"limit":0.5,"threshold":"0"`),
        { vector: [], options: { dimension: Infinity, limit: 0.5, threshold: false } },
      ],
      "a null dimension": [
        withVector(numbers(DIMENSION), `"dimension":null`),
        { vector: [], options: { dimension: null } },
      ],
      "a leading zero": [last("01"), { body: "json" }],
      "a trailing comma": [withVector(`${numbers(DIMENSION)},`), { body: "json" }],
      "a byte order mark": [body(`\ufeff{"dimension":${DIMENSION}}`), { body: "json" }],
      "a character after the end": [body("{}x"), { body: "json" }],
      "an array": [body("[1]"), { body: "object" }],
    };
    for (const [name, [bytes, faults]] of Object.entries(cases)) {
      expect([name, parseSearchBody(bytes)]).toEqual([name, faults]);
    }
    const texts = parseSearchBody(withVector(numbers(1_000, '"x"')));
    expect("vector" in texts && texts.vector).toHaveLength(PROBLEM_MAX_FIELD_ERRORS);
  });

  test("the last of repeated members counts, by the name that its escapes spell", () => {
    const members = `"dimension":5,"limit":7,"x":1,"limit":8,"dimens\\u0069on":${DIMENSION},"x":2`;
    const rest = `"vector":"no","vec\\u0074or":[${numbers(DIMENSION)}]`;
    const { vector, ...others } = searchOf(body(`{"vector":[null],${members},${rest}}`));
    expect(vector).toEqual(new Float32Array(DIMENSION).fill(0.5));
    expect(others).toEqual({ dimension: DIMENSION, limit: 8, threshold: 0.7, ignored: ["x"] });
  });

  test("a body may be nested as deeply as it is long", () => {
    const nested = (open: string, inner: string, close: string) => {
      const value = open.repeat(400_000) + inner + close.repeat(400_000);
      return withVector(numbers(DIMENSION), `"dimension":${DIMENSION},"x":${value}`);
    };
    expect(searchOf(nested("[", "", "]")).ignored).toEqual(["x"]);
    expect(searchOf(nested('{"a":', "1", "}")).ignored).toEqual(["x"]);
    expect(parseSearchBody(nested("[", "1 1", "]"))).toEqual({ body: "json" });
    expect(parseSearchBody(nested("[", "}", "]"))).toEqual({ body: "json" });
  });

  test("a body in a view of a larger buffer is read within the bounds of the view", () => {
    const whole = withVector(numbers(DIMENSION));
    const padded = new Uint8Array(whole.length + 64).fill(0x20);
    padded.set(whole, 32);
    expect(searchOf(padded.subarray(32, 32 + whole.length)).dimension).toBe(DIMENSION);
    expect(parseSearchBody(padded.subarray(32, 31 + whole.length))).toEqual({ body: "json" });
  });
});

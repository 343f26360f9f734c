import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { kernelSets, parseSearchBody, useKernels } from "../../native/testing.ts";
import { fullyParsed } from "../fuzz/search-bodies.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const DIMENSION = 768;

const body = (text: string) => encoder.encode(text);
const numbers = (count: number, text = "0.5") => Array(count).fill(text).join(",");
const withVector = (elements: string, rest = `"dimension":${DIMENSION}`) =>
  body(`{"vector":[${elements}],${rest}}`);

const bitsOf = (vector: Float32Array) =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);

/** Returns whether the native parser takes the body; fails when the full parser refuses it or reads it differently. */
function isTaken(bytes: Uint8Array): boolean {
  const native = parseSearchBody(bytes);
  if (native === null) return false;
  const full = fullyParsed(bytes);
  if (full === undefined) throw new Error(`taken although invalid: ${decoder.decode(bytes)}`);
  expect(bitsOf(native.vector).equals(bitsOf(full.vector))).toBe(true);
  const { dimension, limit, threshold } = native;
  expect({ dimension, limit, threshold }).toEqual(full.options);
  return true;
}

/** Numbers as clients write them: doubles, widened floats, short decimals, exponents. */
const numberText = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e30, max: 1e30 }).map(String),
  fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.float({ min: -1, max: 1, noNaN: true }).map((value) => value.toFixed(6)),
  fc.float({ min: -1, max: 1, noNaN: true }).map((value) => value.toExponential()),
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?$/),
);
/** Elements as vectors have them: fractions with few or many digits. */
const elementText = fc.oneof(
  fc.float({ min: -1, max: 1, noNaN: true }).map((value) => JSON.stringify(value)),
  fc.double({ min: -1, max: 1, noNaN: true }).map((value) => JSON.stringify(value)),
  fc.stringMatching(/^-?0\.0{0,12}[0-9]{1,26}$/),
);
const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);

/** Simple, valid bodies: members in any order, white space anywhere. */
const simpleBody = fc
  .record({
    pool: fc.array(numberText, { minLength: 24, maxLength: 24 }),
    limit: fc.option(fc.double({ min: 1, max: 100, noNaN: true }).map(String)),
    threshold: fc.option(fc.double({ min: 0, max: 1, noNaN: true }).map(String)),
    unknown: fc.option(fc.json()),
    spaces: fc.array(space, { minLength: 4, maxLength: 4 }),
    turn: fc.nat(3),
  })
  .map(({ pool, limit, threshold, unknown, spaces, turn }) => {
    const [a, b, c, d] = spaces;
    const vector = Array.from({ length: DIMENSION }, (_, i) => `${a}${pool[i % pool.length]}${b}`);
    vector[0] = "1";
    const members = [
      `${c}"vector"${d}:${a}[${vector.join(",")}]${b}`,
      `"dimension":${a}${DIMENSION}`,
    ];
    if (limit !== null) members.push(`"limit"${b}:${limit}`);
    if (threshold !== null) members.push(`"threshold":${c}${threshold}${d}`);
    if (unknown !== null) members.push(`"more":${unknown}`);
    const turned = [
      ...members.slice(turn % members.length),
      ...members.slice(0, turn % members.length),
    ];
    return `${d}{${turned.join(`${b},${c}`)}}${a}`;
  });

/** Bodies as clients write them: one separator, and elements of one form, except for a few. */
const usualBody = fc
  .record({
    pool: fc.array(elementText, { minLength: 24, maxLength: 24 }),
    other: numberText,
    places: fc.array(fc.nat(DIMENSION - 1), { maxLength: 3 }),
    separator: fc.constantFrom(",", ", ", ",\n  "),
  })
  .map(({ pool, other, places, separator }) => {
    const vector = Array.from({ length: DIMENSION }, (_, i) => pool[i % pool.length] as string);
    vector[0] = "0.5";
    for (const place of places) vector[place] = other;
    return `{"vector": [${vector.join(separator)}], "dimension": ${DIMENSION}}`;
  });

describe.each(kernelSets())("search bodies, with the kernels %s", (set) => {
  const before = kernelSets().at(-1) as string;
  beforeAll(() => useKernels(set));
  afterAll(() => useKernels(before));

  test("every usual body is parsed, with the floats that JSON.parse and Math.fround give", () => {
    fc.assert(
      fc.property(usualBody, (text) => {
        const bytes = body(text);
        expect(isTaken(bytes)).toBe(fullyParsed(bytes) !== undefined);
      }),
      { numRuns: 300 },
    );
  });

  test("every simple valid body is parsed, with the floats that JSON.parse and Math.fround give", () => {
    fc.assert(
      fc.property(simpleBody, (text) => {
        const bytes = body(text);
        expect(isTaken(bytes)).toBe(fullyParsed(bytes) !== undefined);
      }),
      { numRuns: 300 },
    );
  });

  test("a body changed at random places is refused or parsed as JSON.parse does", () => {
    const mutation = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      drop: fc.nat(3),
      insert: fc.oneof(
        fc.uint8Array({ maxLength: 4 }),
        fc
          .constantFrom(
            "-",
            ".",
            "e",
            "E5",
            "0",
            ",",
            "[",
            "]",
            "{",
            "}",
            '"',
            "null",
            "\\",
            " ",
            "\ufeff",
          )
          .map(body),
      ),
    });
    fc.assert(
      fc.property(
        fc.oneof(simpleBody, usualBody),
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        (text, mutations) => {
          let bytes = Buffer.from(body(text));
          for (const { at, drop, insert } of mutations) {
            const position = Math.floor(at * bytes.length);
            bytes = Buffer.concat([
              bytes.subarray(0, position),
              insert,
              bytes.subarray(position + drop),
            ]);
          }
          isTaken(new Uint8Array(bytes));
        },
      ),
      { numRuns: 700 },
    );
  });

  test("a truncated body is refused wherever it ends", () => {
    const whole = body(`{"vector":[${numbers(DIMENSION)}],"dimension":${DIMENSION},"limit":5}`);
    for (let length = 0; length < whole.length; length += 1) {
      expect(parseSearchBody(whole.slice(0, length))).toBeNull();
    }
    expect(parseSearchBody(whole)).not.toBeNull();
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
          expect(isTaken(withVector(texts.join(",")))).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("base64 vectors are decoded bit by bit, and base64 that is not canonical is refused", () => {
    const floats = Float32Array.from({ length: 1024 }, (_, i) => Math.sin(i));
    const base64 = Buffer.from(floats.buffer).toString("base64");
    const parsed = parseSearchBody(body(`{"vector":"${base64}","dimension":1024}`));
    expect(parsed?.vector).toEqual(floats);
    for (const broken of [
      base64.slice(1),
      base64.slice(0, -2),
      base64.replace("A", "!"),
      `${base64}AAAA`,
      "",
    ]) {
      expect(parseSearchBody(body(`{"vector":"${broken}","dimension":1024}`))).toBeNull();
    }
    floats[7] = Number.NaN;
    const poisoned = Buffer.from(floats.buffer).toString("base64");
    expect(parseSearchBody(body(`{"vector":"${poisoned}","dimension":1024}`))).toBeNull();
  });

  test("absent and null members take their defaults, and a fractional limit is rounded down", () => {
    const plain = parseSearchBody(withVector(numbers(DIMENSION)));
    expect(plain).toMatchObject({ dimension: DIMENSION, limit: 10, threshold: 0.7 });
    const rest = `"dimension":7.68e2,"limit":99.9,"threshold":null`;
    expect(parseSearchBody(withVector(numbers(DIMENSION), rest))).toMatchObject({
      limit: 99,
      threshold: 0.7,
    });
  });

  test("bodies that are not simple are left to the full parser", () => {
    const vector = numbers(DIMENSION);
    const notSimple: Record<string, Uint8Array> = {
      "a zero vector": withVector(numbers(DIMENSION, "0")),
      "a minus zero vector": withVector(numbers(DIMENSION, "-0.0")),
      "an element out of the range of float32": withVector(`${numbers(DIMENSION - 1)},1e39`),
      "a null element": withVector(`${numbers(DIMENSION - 1)},null`),
      "one element too few": withVector(numbers(DIMENSION - 1)),
      "one element too many": withVector(numbers(DIMENSION + 1)),
      "an unknown dimension": withVector(vector, `"dimension":769`),
      "limit 0.5": withVector(vector, `"dimension":${DIMENSION},"limit":0.5`),
      "limit 100.5": withVector(vector, `"dimension":${DIMENSION},"limit":100.5`),
      "threshold 1.1": withVector(vector, `"dimension":${DIMENSION},"threshold":1.1`),
      "a limit in quotes": withVector(vector, `"dimension":${DIMENSION},"limit":"5"`),
      "a repeated member": withVector(vector, `"dimension":${DIMENSION},"dimension":${DIMENSION}`),
      "an escape in a key": withVector(vector, `"dimension":${DIMENSION},"\\u006c":1`),
      "a byte order mark": new Uint8Array([0xef, 0xbb, 0xbf, ...withVector(vector)]),
      "no vector": body(`{"dimension":${DIMENSION}}`),
      "no dimension": body(`{"vector":[${vector}]}`),
      "an array": body(`[${vector}]`),
      "a leading zero": withVector(`${numbers(DIMENSION - 1)},01`),
      "a trailing comma": withVector(`${vector},`),
      "invalid UTF-8 in an unknown member": Buffer.concat([
        body(`{"x":"`),
        new Uint8Array([0xc3, 0x28]),
        body(`","vector":[${vector}],"dimension":${DIMENSION}}`),
      ]),
      "a character after the end": Buffer.concat([withVector(vector), body("x")]),
      "deep nesting": withVector(
        vector,
        `"dimension":${DIMENSION},"x":${"[".repeat(5000)}${"]".repeat(5000)}`,
      ),
    };
    for (const [name, bytes] of Object.entries(notSimple)) {
      expect([name, parseSearchBody(new Uint8Array(bytes))]).toEqual([name, null]);
    }
  });

  test("a body in a view of a larger buffer is read within the bounds of the view", () => {
    const whole = withVector(numbers(DIMENSION));
    const padded = new Uint8Array(whole.length + 64).fill(0x20);
    padded.set(whole, 32);
    expect(parseSearchBody(padded.subarray(32, 32 + whole.length))).not.toBeNull();
    expect(parseSearchBody(padded.subarray(32, 31 + whole.length))).toBeNull();
    expect(parseSearchBody(whole.buffer as ArrayBuffer)).not.toBeNull();
  });
});

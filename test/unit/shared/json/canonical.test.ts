import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson } from "../../../../src/shared/json/canonical.ts";

const same = (a: string, b: string) => canonicalJson(a) === canonicalJson(b);

describe("the canonical form of JSON", () => {
  test("two different documents never have the same canonical JSON", () => {
    const pairs = [
      ['["a","b"]', '["a,b"]'],
      ['{"a":"1"}', '{"a":1}'],
      ['["1"]', "[1]"],
      ["[null]", '["null"]'],
      ["[]", "[[]]"],
      ["{}", "[]"],
      ['{"a":{"b":1}}', '{"a":1,"b":1}'],
      ["9007199254740993", "9007199254740992"],
      ["1e400", "1e401"],
      ["0.1", "0.10000000000000000001"],
      ["-1", "1"],
      ['{"__proto__":1}', "{}"],
      ['"\\ud800"', '"\\ufffd"'],
    ] as const;
    for (const [a, b] of pairs) expect(same(a, b), `${a} and ${b}`).toBe(false);
  });

  test("two spellings of a document have the same canonical JSON", () => {
    const pairs = [
      ["1", "1.0"],
      ["100", "1E2"],
      ["-0", "0.00"],
      ["1200e-2", "12"],
      ["0.0012", "12e-4"],
      ['"\\u00e4\\/"', '"ä/"'],
      ['{"\\u0062":2,"a":1}', '{"a":1,"b":2}'],
      ['[{"b":{"d":[],"c":null},"a":1}]', '[ {"a": 1,\n"b": {"c":null, "d":[]}} ]'],
    ] as const;
    for (const [a, b] of pairs) expect(same(a, b), `${a} and ${b}`).toBe(true);
  });

  test("numbers of the same value have the same canonical JSON", () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(number, (value) =>
        same(JSON.stringify(value), value.toExponential().replace("e+", "e")),
      ),
    );
  });

  test("canonical JSON of very long numbers takes no noticeable time", () => {
    const zeros = "0".repeat(1_000_000);
    expect(same(`0.${zeros}1`, `0.${zeros}2`)).toBe(false);
    expect(same(`1${zeros}`, "1e1000000")).toBe(true);
  });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson } from "../../../../src/domain/json/canonical.ts";

const same = (a: string, b: string) => canonicalJson(a) === canonicalJson(b);

/** The same value with another key order in every object, on several lines. */
function respelt(value: unknown): string {
  const reversed = (inner: unknown): unknown => {
    if (typeof inner !== "object" || inner === null) return inner;
    if (Array.isArray(inner)) return inner.map(reversed);
    const entries = Object.entries(inner).map(([key, member]) => [key, reversed(member)]);
    return Object.fromEntries(entries.reverse());
  };
  return JSON.stringify(reversed(value), null, 2);
}

describe("the canonical form of JSON", () => {
  test("canonical JSON does not depend on key order or white space", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => same(JSON.stringify(value), respelt(value))));
    expect(same('{"\\u0062":2,"a":"\\u00e4\\/"}', '{"a":"ä/","b":2}')).toBe(true);
  });

  test("canonical JSON differs for documents that differ", () => {
    const text = fc.jsonValue().map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(text, text, (a, b) => {
        // Parsed and serialized again, equal texts are equal documents for the platform as well.
        return same(a, b) === Bun.deepEquals(JSON.parse(a), JSON.parse(b));
      }),
    );
  });

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

  test("numbers are the same exactly when they are the same decimals, however they are written", () => {
    const spellings = [
      ...[["-1e401"], ["-1e400"], ["-9007199254740993"], ["-9007199254740992"], ["-1.1"]],
      ...[["-1e-400"], ["0", "-0", "0.000", "-0e5"], ["1e-401"], ["1e-400"], ["0.1"]],
      ...[
        ["0.10000000000000000001"],
        ["1", "1.0", "1e0", "10E-1", "0.1e1"],
        ["1.1", "1.10", "11e-1"],
      ],
      ...[["9007199254740992"], ["9007199254740993"], ["1234567890123456788"]],
      ["1234567890123456789", "1234567890123456789.0", "1.234567890123456789e18"],
      ...[["1e400", "10e399", "1.0E+400"], ["1e401"]],
    ];
    const all = spellings.flatMap((texts, number) => texts.map((text) => ({ text, number })));
    for (const a of all) {
      for (const b of all) {
        expect(same(a.text, b.text), `${a.text} and ${b.text}`).toBe(a.number === b.number);
      }
    }
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

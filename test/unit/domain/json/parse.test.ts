import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import fc from "fast-check";
import { keepOpaqueNumbers, withRounded } from "../../../../src/domain/json/opaque.ts";
import { numberOf, parseJson } from "../../../../src/domain/json/parse.ts";
import { jsonNumber, jsonText, WRITTEN } from "./written-numbers.ts";

const Any = Type.Unknown();
const Record = Type.Object({
  kept: Type.Record(Type.String(), Any),
  list: Type.Array(Type.Object({ kept: Any, typed: Type.Unknown({ isTyped: true }) })),
  maybe: Type.Union([Type.Object({ kept: Any }), Type.Null()]),
  typed: Type.Number(),
});

/** What a service makes of a body with this schema. */
function parsed(text: string): unknown {
  const value: unknown = JSON.parse(text);
  keepOpaqueNumbers(Record, text, value);
  return value;
}

describe("JSON that keeps its numbers", () => {
  test("every number is written as it was read", () => {
    for (const text of WRITTEN) expect(JSON.stringify(parseJson(`[${text}]`))).toBe(`[${text}]`);
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(JSON.stringify(parseJson(text))).toBe(text);
      }),
    );
  });

  test("a number is kept in its text exactly when JavaScript would write it differently", () => {
    fc.assert(
      fc.property(jsonNumber, (text) => {
        const isKept = typeof numberOf(text) !== "number";
        expect(isKept).toBe(JSON.stringify(JSON.parse(text)) !== text);
        expect(parseJson(text)).toEqual(numberOf(text));
      }),
    );
  });

  test("numbers in opaque members stay as they are written, and all others are JavaScript's", () => {
    fc.assert(
      fc.property(fc.array(jsonNumber, { minLength: 6, maxLength: 6 }), jsonText, (n, any) => {
        const text =
          ` {"typed" : ${n[0]}, "other": {"kept":${n[1]}},\n"kept":{"a":[${n[2]},"]\\"}\\\\"]},` +
          `"list":[{"kept":${any},"typed":[${n[3]}]} ,{"k\\u0065pt":${n[4]}}],` +
          `"maybe":{"kept":{"":${n[5]}}}}`;
        const rounded = (each: number) => JSON.stringify(JSON.parse(n[each] as string));
        expect(JSON.stringify(parsed(text))).toBe(
          `{"typed":${rounded(0)},"other":{"kept":${rounded(1)}},"kept":{"a":[${n[2]},"]\\"}\\\\"]},` +
            `"list":[{"kept":${any},"typed":[${rounded(3)}]},{"kept":${n[4]}}],` +
            `"maybe":{"kept":{"":${n[5]}}}}`,
        );
        expect(JSON.stringify(withRounded(Record, parseJson(text)))).toBe(
          JSON.stringify(parsed(text)),
        );
      }),
    );
  });

  test("of members with the same name the last one counts, whatever its type is", () => {
    const cases = [
      ['{"kept":{"a":1.0},"kept":{"a":1}}', '{"kept":{"a":1}}'],
      ['{"list":[{"kept":1.0},{"kept":2.0}],"list":[{}]}', '{"list":[{}]}'],
      ['{"list":[{"kept":1}],"list":[{"kept":1.0}]}', '{"list":[{"kept":1.0}]}'],
      ['{"list":[{"kept":1.0}],"list":[{"kept":1}]}', '{"list":[{"kept":1}]}'],
      ['{"maybe":{"kept":1.0},"maybe":null}', '{"maybe":null}'],
      ['{"list":[1.0],"list":"1.0"}', '{"list":"1.0"}'],
    ] as const;
    for (const [text, expected] of cases) expect(JSON.stringify(parsed(text))).toBe(expected);
  });

  test("a value of another type than its schema is left to the validation", () => {
    for (const text of ["1.0", '"1.0"', "[1.0]", "null", '{"list":{"a":1.0},"maybe":[1.0]}']) {
      expect(parsed(text)).toEqual(JSON.parse(text));
    }
  });
});

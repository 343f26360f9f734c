import { describe, expect, test } from "bun:test";
import { readFilter } from "../../../../src/content/scopes/filter.ts";
import type { Problem } from "../../../../src/domain/problem/problem.ts";
import { filterOf, mayHaveFilter } from "../../../../src/query/search/body.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const FILTER = { path: { $prefix: 'a}"{\\' } };
const APPLIED = readFilter(FILTER) as string;
const WHOLE = `"vector":[${Array(768).fill(1)}],"dimension":768`;

// test/native/parser.test.ts compares whole bodies, with filters in all places, with JSON.parse.
describe("the filter of a JSON body", () => {
  test("is looked for in bodies that may have one, also where its name has escapes", () => {
    for (const name of ["filter", "fil\\u0074er", "\\u0066\\u0069\\u006C\\u0074\\u0065\\u0072"]) {
      const body = bytesOf(`{${WHOLE},"${name}":${JSON.stringify(FILTER)}}`);
      expect([mayHaveFilter(body), filterOf(body)]).toEqual([true, APPLIED]);
    }
    expect(mayHaveFilter(bytesOf(`{${WHOLE},"x":"\\n"}`))).toBe(false);
  });

  test("is not JSON where the numbers that it would keep are nested too deeply", () => {
    const nested = (inner: string) => "[".repeat(400_000) + inner + "]".repeat(400_000);
    const fault = (inner: string) => {
      try {
        return filterOf(bytesOf(`{${WHOLE},"filter":${nested(inner)}}`));
      } catch (error) {
        return (error as Problem).options.errors;
      }
    };
    const message = "must be an object of fields and operators";
    expect(fault("1") as object).toEqual([{ field: "filter", message }]);
    expect(fault("1.10") as object).toEqual([{ field: "body", message: "is not valid JSON" }]);
  });
});

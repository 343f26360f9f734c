import { describe, expect, test } from "bun:test";
import { parseSearchBody } from "../../../../native/index.ts";
import { readFilter } from "../../../../src/content/scopes/filter.ts";
import { DIMENSIONS } from "../../../../src/domain/limits.ts";
import { Problem } from "../../../../src/domain/problem/problem.ts";
import { base64Of } from "../../../../src/domain/vector.ts";
import { filterOf, mayHaveFilter } from "../../../../src/query/search/body.ts";
import { randomVector } from "../../../../support/api/versions.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const FILTER = { path: { $prefix: 'a}"{\\' } };
const APPLIED = readFilter(FILTER) as string;
const DIMENSION = 768;
const vector = Array.from({ length: DIMENSION }, (_, i) => i);
const WHOLE = `"vector":${JSON.stringify(vector)},"dimension":${DIMENSION}`;

test.each([...DIMENSIONS])("a vector of %d dimensions is read from base64", (dimension) => {
  const given = randomVector(dimension, 1);
  const body = JSON.stringify({ vector: base64Of(given), dimension });
  expect(parseSearchBody(bytesOf(body))).toMatchObject({ vector: given, dimension });
});

describe("the filter of a JSON body", () => {
  /** The messages about a body. */
  function faultsOf(body: Uint8Array<ArrayBuffer>): string[] {
    try {
      filterOf(body);
    } catch (error) {
      if (error instanceof Problem) {
        return (error.options.errors ?? []).map(({ field, message }) => `${field} ${message}`);
      }
      throw error;
    }
    return [];
  }

  test("is found before, between and after other members", () => {
    for (const body of [
      { filter: FILTER, vector, dimension: DIMENSION },
      { vector, dimension: DIMENSION, filter: FILTER, limit: 3 },
      { vector, dimension: DIMENSION, filter: FILTER },
      { dimension: DIMENSION, x: { filter: { path: "b" } }, filter: FILTER, vector },
      { x: [["]"], { filter: { path: "b" } }], filter: FILTER, y: ["filter", "]"] },
    ]) {
      for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)]) {
        expect(filterOf(bytesOf(text))).toBe(APPLIED);
      }
    }
  });

  test("is the last one, also where its name has escapes", () => {
    const text = JSON.stringify(FILTER);
    for (const name of ["filter", "fil\\u0074er", "\\u0066\\u0069\\u006C\\u0074\\u0065\\u0072"]) {
      expect(filterOf(bytesOf(`{"filter":{"path":5},${WHOLE},"${name}":${text}}`))).toBe(APPLIED);
      const alone = bytesOf(`{${WHOLE},"${name}":${text}}`);
      expect(filterOf(alone)).toBe(APPLIED);
      expect(mayHaveFilter(alone)).toBe(true);
      expect(filterOf(bytesOf(`{"filter":${text},${WHOLE},"${name}":null}`))).toBeNull();
    }
  });

  test("is absent, null and empty where everything matches", () => {
    expect(filterOf(bytesOf(`{${WHOLE},"x":"filter"}`))).toBeNull();
    expect(filterOf(bytesOf(`{${WHOLE},"x":{"filter":5}}`))).toBeNull();
    expect(filterOf(bytesOf(`{${WHOLE},"filter":{}}`))).toBeNull();
    expect(mayHaveFilter(bytesOf(`{${WHOLE},"x":"\\n"}`))).toBe(false);
  });

  test("is reported with the other faults of the body if it is invalid, and not in a body that is not JSON", () => {
    const wrong = "filter must be an object of fields and operators";
    expect(faultsOf(bytesOf(`{${WHOLE},"filter":5}`))).toEqual([wrong]);
    expect(faultsOf(bytesOf('{"filter":5,"dimension":768,"limit":0}'))).toEqual([
      ...["vector is required", "limit must be at least 1", wrong],
    ]);
    for (const end of ["", "}}", ",}", "}x"]) {
      expect(faultsOf(bytesOf(`{"filter":5,${WHOLE}${end}`))).not.toContain(wrong);
    }
    expect(faultsOf(bytesOf(`{"filter":5,${WHOLE},}`))).toEqual([]);
  });

  test("is not JSON where the numbers that it would keep are nested too deeply", () => {
    const nested = (inner: string) => "[".repeat(400_000) + inner + "]".repeat(400_000);
    const wrong = "filter must be an object of fields and operators";
    expect(faultsOf(bytesOf(`{${WHOLE},"filter":${nested("1")}}`))).toEqual([wrong]);
    expect(faultsOf(bytesOf(`{${WHOLE},"filter":${nested("1.10")}}`))).toEqual([
      "body is not valid JSON",
    ]);
  });

  test("is not read in a body that is not UTF-8, whose faulty fields are named", () => {
    const body = Buffer.from(`{${WHOLE},"filter":5,"more":["x"]}`);
    body[body.length - 4] = 0xff;
    expect(faultsOf(new Uint8Array(body))).toEqual(["more[0] is not valid UTF-8"]);
  });
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { readFilter } from "../../../../src/api/scopes/filter.ts";
import { cutFilter } from "../../../../src/api/search/filter-member.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const FILTER = { path: { $prefix: 'a}"{\\' } };

test("a filter before, between and after other members is cut out, and can be put back", () => {
  const vector = Array.from({ length: 768 }, (_, i) => i);
  for (const body of [
    { filter: FILTER, vector, dimension: 768 },
    { vector, dimension: 768, filter: FILTER, limit: 3 },
    { vector, dimension: 768, filter: FILTER },
    { dimension: 768, filter: FILTER, vector },
  ]) {
    for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)]) {
      const bytes = bytesOf(text);
      const member = cutFilter(bytes);
      expect(member?.filter).toBe(readFilter(FILTER) as string);
      const { filter, ...others } = body;
      expect(JSON.parse(textOf(bytes))).toEqual(others);
      member?.restore(bytes);
      expect(textOf(bytes)).toBe(text);
    }
  }
});

test("what is not certainly one valid filter of the body is left as it is", () => {
  for (const text of [
    `{"x":{"filter":{"path":"a"}},"limit":3}`,
    `{"x":{"y":1,"filter":{"path":"a"}}}`,
    `{"x":[{"filter":{"path":"a"}}]}`,
    `{"limit":3,"x":"filter"}`,
    `{"limit":3,"filter":{"path":null}}`,
    `{"limit":3,"filter":{}}`,
    `{"limit":3,"filter":null}`,
    `{"filter":{"path":"a"},"filter":{"path":"b"}}`,
    `{"filter":{"path":"a"}}`,
    `{,"filter":{"path":"a"}}`,
    `{"filter":{"path":"a"},}`,
    `{"filter":{"path":"a"} "limit":3}`,
    `{"limit":3,"filter":{"path":"a"`,
    `"filter":`,
    `"filter"`,
  ]) {
    const bytes = bytesOf(text);
    expect(cutFilter(bytes), text).toBeUndefined();
    expect(textOf(bytes)).toBe(text);
  }
});

test("for any body, what is cut out is the filter that a parser finds, and the rest stays", () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constant(FILTER),
    fc.record({ filter: fc.constant(FILTER) }),
  );
  const names = fc.constantFrom("vector", "filter", "limit", "x", "fil\\ter");
  const damage = fc.option(fc.tuple(fc.nat(200), fc.constantFrom(",", "{", "}", '"', " ", "]")), {
    freq: 2,
  });
  fc.assert(
    fc.property(fc.dictionary(names, value), fc.boolean(), damage, (body, spaced, fault) => {
      const whole = JSON.stringify(body, null, spaced ? 1 : 0);
      const text =
        fault === null ? whole : whole.slice(0, fault[0]) + fault[1] + whole.slice(fault[0]);
      const bytes = bytesOf(text);
      const member = cutFilter(bytes);
      if (member === undefined) return;
      const rest = textOf(bytes);
      let parsed: Record<string, unknown> | undefined;
      try {
        parsed = JSON.parse(text);
      } catch {
        // A body that is invalid stays so.
        expect(() => JSON.parse(rest)).toThrow();
        return;
      }
      const { filter, ...others } = parsed as Record<string, unknown>;
      expect(member.filter).toBe(readFilter(filter) as string);
      expect(JSON.parse(rest)).toEqual(others);
    }),
    { numRuns: 3_000 },
  );
});

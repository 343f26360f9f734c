import { expect, test } from "bun:test";
import { parseSearchBody } from "../../../../native/testing.ts";
import { readFilter } from "../../../../src/api/scopes/filter.ts";
import { filterMember } from "../../../../src/api/search/filter-member.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const FILTER = { path: { $prefix: 'a}"{\\' } };
const DIMENSION = 768;
const vector = Array.from({ length: DIMENSION }, (_, i) => i);

/** The filter that a search by the body applies without a full parse; undefined where it needs one. */
function appliedFilter(text: string): string | undefined {
  const bytes = bytesOf(text);
  const member = filterMember(bytes);
  const parsed = parseSearchBody(bytes, member?.filterAt);
  return parsed === null ? undefined : (member?.filter ?? "none");
}

test("a filter before, between and after other members is applied without a full parse", () => {
  for (const body of [
    { filter: FILTER, vector, dimension: DIMENSION },
    { vector, dimension: DIMENSION, filter: FILTER, limit: 3 },
    { vector, dimension: DIMENSION, filter: FILTER },
    { dimension: DIMENSION, x: { filter: { path: "b" } }, filter: FILTER, vector },
  ]) {
    for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)]) {
      expect(appliedFilter(text)).toBe(readFilter(FILTER) as string);
    }
  }
  expect(appliedFilter(JSON.stringify({ vector, dimension: DIMENSION, x: "filter" }))).toBe("none");
});

test("what is not one valid filter of the body needs a full parse", () => {
  const whole = `"vector":${JSON.stringify(vector)},"dimension":${DIMENSION}`;
  for (const members of [
    `"filter":{"path":null}`,
    `"filter":{}`,
    `"filter":null`,
    `"filter":{"path":"a"},"filter":{"path":"b"}`,
    `"filter":{"path":"a"},"fil\\u0074er":{"path":"b"}`,
    `"filter":{"path":"a"},`,
    `,"filter":{"path":"a"}`,
    `"filter":{"path":"a"} "limit":3`,
    `"filter":{"path":"a"`,
  ]) {
    for (const text of [`{${whole},${members}}`, `{${members},${whole}}`]) {
      expect(appliedFilter(text), members).toBeUndefined();
    }
  }
});

import { describe, expect, test } from "bun:test";
import { checkFilter } from "../../../../src/domain/filter/check.ts";
import { parseJson } from "../../../../src/domain/json/parse.ts";
import { evaluated, hostileGlobs, hostileSteps } from "./filters.ts";

type Json = Record<string, unknown>;

/** Whether a valid filter matches a document. */
function matches(filter: Json, frontmatter: Json, { path = "a.md", metadata = {} as Json } = {}) {
  expect(checkFilter(filter)).toEqual([]);
  return evaluated(filter, { path, frontmatter, metadata }).result;
}

const onX = (operand: unknown, x?: unknown) =>
  matches({ "frontmatter.x": operand }, x === undefined ? {} : { x });

describe("a filter", () => {
  test("that is empty matches everything", () => {
    expect(matches({}, {})).toBe(true);
  });

  test("may have any number of empty filters in it", () => {
    const empty: Json[] = Array.from({ length: 1_000 }, () => ({}));
    expect(matches({ $and: empty }, {})).toBe(true);
    expect(matches({ $or: empty }, {})).toBe(true);
    expect(matches({ $or: [] }, {})).toBe(false);
    expect(matches({ $and: [...empty, { $not: {} }, { path: "a.md" }] }, {})).toBe(false);
    expect(matches({ $not: { $or: [...empty, { path: "b.md" }] } }, {})).toBe(false);
    expect(matches({ $and: [...empty, { path: "a.md" }] }, {})).toBe(true);
    expect(matches({ $and: [...empty, { path: "b.md" }] }, {})).toBe(false);
  });

  test("reads keys with dots into objects, and never inherited ones", () => {
    expect(matches({ "frontmatter.a.b": 1 }, { a: { b: [1, 2] } })).toBe(true);
    expect(matches({ "frontmatter.a.b": 1 }, { a: [1] })).toBe(false);
    expect(onX({ $exists: true })).toBe(false);
    expect(matches({ "frontmatter.constructor": { $exists: true } }, {})).toBe(false);
    expect(matches({ "frontmatter.length": { $exists: true } }, {})).toBe(false);
  });

  test("knows the metadata of a chunk and the path of its file", () => {
    const chunk = { path: "docs/a.md", metadata: { headings: ["Install"] } };
    expect(matches({ "metadata.headings": "Install" }, {}, chunk)).toBe(true);
    expect(matches({ path: { $glob: "docs/*.md" } }, {}, chunk)).toBe(true);
    expect(matches({ "frontmatter.headings": "Install" }, {}, chunk)).toBe(false);
  });
});

describe("values are compared", () => {
  const exactly = (json: string) => parseJson(json);
  const orders: [smaller: string, larger: string][] = [
    ["9007199254740992", "9007199254740993"],
    ["-1e400", "-1.7976931348623157e308"],
    ["1e400", "1e401"],
    ["0.1", "0.10000000000000000001"],
    ["4.9e-324", "5e-324"],
    ["-1e-400", "0"],
    ["0", "1e-400"],
    ["2", "10"],
    ["false", "true"],
    [`"10"`, `"2"`],
    [`"ÿ"`, `"Ā"`],
    [`"a"`, `"aa"`],
    // In the order of UTF-16 units, which is not that of code points.
    [`"😀"`, `"\uffff"`],
    [`"a😀"`, `"a\ue000"`],
  ];
  test.each(orders)("%s is smaller than %s", (smaller, larger) => {
    const [low, high] = [exactly(smaller), exactly(larger)];
    expect(onX({ $lt: high, $lte: high }, low)).toBe(true);
    expect(onX({ $gt: low, $gte: low }, high)).toBe(true);
    for (const operators of [{ $gt: high }, { $gte: high }, { $eq: high }, high]) {
      expect(onX(operators, low)).toBe(false);
    }
  });

  const equals: [one: string, other: string][] = [
    ["12.50e1", "125"],
    ["-0", "0"],
    ["1e21", "1000000000000000000000"],
    ["1e400", "10e399"],
    ["0.000", "0e5"],
    [`"\u0061"`, `"a"`],
  ];
  test.each(equals)("%s equals %s", (one, other) => {
    const [x, operand] = [exactly(one), exactly(other)];
    expect(onX(operand, x)).toBe(true);
    expect(onX({ $in: ["b", operand] }, x)).toBe(true);
    expect(onX({ $gte: operand, $lte: operand }, x)).toBe(true);
    expect(onX({ $ne: operand }, x)).toBe(false);
  });

  test("with those of their own type only", () => {
    const all = ["1", 1, true, "true", "", 0, false];
    for (const x of all) {
      for (const other of all.filter((each) => each !== x)) expect(onX(other, x)).toBe(false);
      for (const other of all.filter((each) => typeof each !== typeof x)) {
        expect(onX({ $gte: other }, x)).toBe(false);
        expect(onX({ $lte: other }, x)).toBe(false);
      }
    }
  });
});

describe("$glob", () => {
  const table: [pattern: string, matching: string[], others: string[]][] = [
    ["*.md", ["a.md", ".md"], ["a/b.md", "a.mdx"]],
    ["**.md", ["a.md", "a/b.md"], ["a.txt"]],
    ["docs/**", ["docs/", "docs/a", "docs/a/b"], ["docs", "xdocs/a"]],
    ["docs/**/a.md", ["docs/a.md", "docs/x/a.md", "docs/x/y/a.md"], ["docsa.md", "docs/xa.md"]],
    ["**/a.md", ["a.md", "x/a.md", "x/y/a.md"], ["xa.md"]],
    ["**", ["", "a", "a/b"], []],
    ["?.md", ["a.md", "😀.md"], ["ab.md", "/.md", ".md"]],
    ["[ab]{c}.md", ["[ab]{c}.md"], ["a.md", "ac.md"]],
    ["a\\*", ["a\\", "a\\b"], ["a*"]],
    ["a.b", ["a.b"], ["axb"]],
    ["*a*b*", ["ab", "xaxbx", "aab"], ["ba", "a/b"]],
    [`*${"ab".repeat(40)}*c`, [`x${"ab".repeat(41)}c`], ["ab".repeat(40), `${"ab".repeat(39)}c`]],
    [`${"?".repeat(31)}/**/x`, [`${"a".repeat(31)}/x`, `${"a".repeat(31)}/b/c/x`], ["a/x"]],
    [`?${"b".repeat(30)}/**/x`, [`a${"b".repeat(30)}/x`], [`a${"b".repeat(30)}/yx`, "b/x"]],
  ];
  for (const [pattern, matching, others] of table) {
    test(`${pattern} matches what it should`, () => {
      const passes = (text: string) => onX({ $glob: pattern }, text);
      for (const text of matching) expect([text, passes(text)]).toEqual([text, true]);
      for (const text of others) expect([text, passes(text)]).toEqual([text, false]);
    });
  }

  test("compares a long text in steps, which cut no code point", () => {
    const filter = { "frontmatter.x": { $glob: `a${"?".repeat(5_000)}b` } };
    const steps = (x: string) => evaluated(filter, { path: "", frontmatter: { x }, metadata: {} });
    expect(steps(`a${"😀".repeat(5_000)}b`)).toMatchObject({ result: true });
    expect(steps(`a${"😀".repeat(5_000)}b`).steps).toBeGreaterThan(10);
    expect(steps(`a${"😀".repeat(4_999)}b`)).toMatchObject({ result: false });
    expect(steps(`a${"x😀".repeat(2_500)}b`)).toMatchObject({ result: true });
    expect(steps(`a${"\udc00".repeat(5_000)}b`)).toMatchObject({ result: true });
  });

  test("of many stars takes no exponential time", () => {
    expect(onX({ $glob: `${"*a".repeat(500)}b` }, "a".repeat(1_000))).toBe(false);
    expect(onX({ $glob: `${"**/".repeat(340)}x*y` }, "a/".repeat(2_000))).toBe(false);
  });
});

describe("what is wrong with a filter is said by its place", () => {
  const nested = (depth: number): unknown => (depth === 0 ? {} : { $not: nested(depth - 1) });
  const and = (depth: number): string => `filter${".$not".repeat(depth)}`;
  const table: [fault: string, filter: unknown, field: string][] = [
    ["an unknown operator", { $and: [{}, { path: { $like: "a" } }] }, "filter.$and[1].path.$like"],
    ["an unknown field", { title: "a" }, "filter.title"],
    ["frontmatter without a key", { frontmatter: "a" }, "filter.frontmatter"],
    ["an unknown logical operator", { $nor: [] }, "filter.$nor"],
    ["an array", [], "filter"],
    ["a text", "path", "filter"],
    ["null as a value", { path: null }, "filter.path"],
    ["an array as a value", { path: ["a"] }, "filter.path"],
    ["an object as a value", { path: { $eq: {} } }, "filter.path.$eq"],
    ["no operator", { path: {} }, "filter.path"],
    ["a number in $prefix", { path: { $prefix: 1 } }, "filter.path.$prefix"],
    ["a text in $exists", { path: { $exists: "yes" } }, "filter.path.$exists"],
    ["a value in $in", { path: { $in: "a" } }, "filter.path.$in"],
    ["an element of $nin", { path: { $nin: ["a", null] } }, "filter.path.$nin[1]"],
    ["a filter in $or", { $or: {} }, "filter.$or"],
    ["an infinite number", { path: { $gt: Number.POSITIVE_INFINITY } }, "filter.path.$gt"],
    ["nine levels", nested(9), and(9)],
    ["too long a string", { path: { $glob: "a".repeat(1_025) } }, "filter.path.$glob"],
    ["too many values", { path: { $in: Array(1_001).fill(1) } }, "filter.path.$in"],
    ["65 comparisons", { $or: Array(65).fill({ path: "a" }) }, "filter.$or[64].path"],
  ];
  for (const [fault, filter, field] of table) {
    test(fault, () => {
      expect(checkFilter(filter).map((each) => each.field)).toEqual([field]);
    });
  }

  test("the limits themselves are allowed", () => {
    expect(checkFilter(nested(8))).toEqual([]);
    expect(checkFilter({ path: { $in: Array(1_000).fill("a") } })).toEqual([]);
    expect(checkFilter({ path: "😀".repeat(1_024) })).toEqual([]);
    expect(checkFilter({ $or: Array(64).fill({ path: "a" }) })).toEqual([]);
  });
});

test("hostile patterns and a long text, or a long array, yield to others after every short step", () => {
  const text = "a".repeat(100_000);
  const globs = hostileGlobs(8);
  const filter = { $or: globs.map((glob) => ({ "metadata.x": glob })) };
  const fields = (x: unknown) => ({ path: "a.md", frontmatter: {}, metadata: { x } });
  for (const x of [text, Array.from({ length: 1_000 }, (_, i) => text.slice(0, 100) + i)]) {
    const { result, steps } = evaluated(filter, fields(x));
    expect(result).toBe(false);
    expect(steps).toBeGreaterThan(hostileSteps(8, text) / 2);
  }
});

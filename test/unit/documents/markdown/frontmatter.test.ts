import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { stringify } from "yaml";
import { parseMarkdown, readFrontmatterValues } from "../../../../src/documents/markdown/index.ts";
import { buildSegment } from "../../../../src/index/segments/index.ts";
import { contentsOf } from "../../../../support/segment-contents.ts";

/** Keys that differ in more than case; some look like numbers or are special in YAML. */
const keys = fc.uniqueArray(
  fc.oneof(
    fc.stringMatching(/^[a-z][a-zé検_-]{0,10}$/),
    fc.constantFrom("10", "9", "__proto__", "constructor", "title", "a b", "on", "null", "~"),
  ),
  { maxLength: 12, selector: (key) => key.toLowerCase() },
);
const scalar = fc.oneof(fc.string({ unit: "grapheme", maxLength: 30 }), fc.boolean(), fc.integer());
const value = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 4 }),
  fc.array(fc.tuple(fc.stringMatching(/^[a-z]{1,6}$/), scalar), { maxLength: 3 }),
);

type Value = string | boolean | number | Value[] | Map<string, Value>;

/** Turns lists of pairs into maps, which keep their order where an object would not. */
function asValue(generated: unknown): Value {
  const pairs = Array.isArray(generated) && generated.every((each) => Array.isArray(each));
  return pairs && generated.length > 0
    ? new Map(generated as Array<[string, Value]>)
    : (generated as Value);
}

/** A value as lookups return it: scalars as text, nested values as compact JSON. */
function shown(of: Value): string {
  if (of instanceof Map) return JSON.stringify(Object.fromEntries(of));
  return typeof of === "object" ? JSON.stringify(of) : String(of);
}

const fields = fc
  .tuple(keys, fc.array(value, { minLength: 12, maxLength: 12 }))
  .map(([names, values]) => names.map((key, i) => [key, asValue(values[i])] as const));

describe("frontmatter", () => {
  test("frontmatter has all keys and values in file order", () => {
    fc.assert(
      fc.property(fields, (entries) => {
        const yaml = stringify(new Map(entries), { schema: "core", aliasDuplicateObjects: false });
        const parsed = parseMarkdown("a.md", `---\n${yaml}---\ntext\n`);
        expect(parsed.warning).toBeNull();
        const expected = entries.map(([key, of]) => ({ key, value: shown(of) }));
        expect(parsed.frontmatter).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("frontmatter is the same in a segment as in the document", () => {
    const entry = fc.record({ key: fc.string({ maxLength: 20 }), value: fc.string() });
    fc.assert(
      fc.property(fc.array(fc.array(entry, { maxLength: 8 }), { maxLength: 6 }), (documents) => {
        const segment = contentsOf(
          buildSegment(
            documents.map((frontmatter, i) => ({
              id: `${i}`,
              path: `${i}.md`,
              title: "",
              headings: [],
              frontmatter,
              content: "",
            })),
          ),
        );
        for (let d = 0; d < segment.documentCount; d++) {
          expect(segment.frontmatter(d)).toEqual(documents[Number(segment.id(d))] ?? []);
        }
      }),
    );
  });
});

test("frontmatter means the same with and without a comment, which the fast reader does not know", () => {
  const key = fc.constantFrom("title", "a", "_x", "null", "True", "y", "a-b", "k1", "x y", "- a");
  const text = fc.constantFrom(
    ..."foo|bar baz|a, b|1|1.5|010|1e3|-1|true|True|null|~|No|a: b|a #c|# x|- x|[]|[a]|[a,b c]".split(
      "|",
    ),
    ...'[a , b]|[null]|[a, true]|[1]|[a: b]|{a: 1}|\'q\'|"dq"|"a: b # c"|"a\\n\\u0041"'.split("|"),
    ...'""|"a\\x41"|"\\/"|&a|*a|!t|%x|2020-01-01|2020-13-45|http://x.y/z|a  b|a [b] {c}'.split("|"),
    ...'don\'t `x` (y)|a & *b !c|a, [b|a\\b|a\tb|a é — ’x’|a\u00a0|"tab\tx"|:|?|...|---|\ufeffa'.split(
      "|",
    ),
    "|",
    ">",
  );
  const line = fc.tuple(
    key,
    fc.constantFrom(": ", ":", ":  ", " : ", ":\t"),
    text,
    fc.constantFrom("", " ", "\r"),
  );
  const lines = fc.array(
    fc.oneof(
      line.map((parts) => parts.join("")),
      fc.string({ maxLength: 8 }),
    ),
    {
      maxLength: 4,
    },
  );
  fc.assert(
    fc.property(lines, (yaml) => {
      // A comment alone is no map.
      fc.pre(yaml.join("").trim() !== "");
      const read = (above: string[]) =>
        parseMarkdown("a.md", ["---", ...above, ...yaml, "---", "x"].join("\n"));
      const [fast, slow] = [read([]), read(["# comment"])];
      expect(fast.frontmatter).toEqual(slow.frontmatter);
      // A block that cannot be read is text with its comment.
      expect(fast.content).toBe(slow.content.replace("# comment\n", ""));
    }),
    { numRuns: 500 },
  );
});

test("nested frontmatter means the same with and without a comment", () => {
  const indent = fc.constantFrom("", "", "  ", "  ", "    ", " ");
  const key = fc.constantFrom("a", "b", "c", "d", "e", "f", "__proto__", "null", "true", "x y");
  const value = fc.constantFrom(
    ..."foo|a.b C-d|/a/b|/a/b#c|http://x.y/z|a:b|a: b|a:|a #b|a# b|1|true|null|'q'|'a, b'|'it''s'|'#'".split(
      "|",
    ),
    ..."'null'|''|'a' b|[]|[/a/b]|[a.b C, d]|['a b', c]|['a, b']|['a': b]|['it''s']|[a#b]|[a:b]|[null]".split(
      "|",
    ),
    ..."\"dq\"|- x|-|~|{{x}}|'{{x}}'|>|a\tb|a\u00a0".split("|"),
  );
  const text = fc.oneof({ weight: 2, arbitrary: fc.constant("") }, { weight: 3, arbitrary: value });
  const line = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(indent, key, fc.constant(": "), text) },
    { weight: 2, arbitrary: fc.tuple(indent, fc.constantFrom("- ", "-", "-  "), value) },
    { weight: 1, arbitrary: fc.tuple(indent, value) },
  );
  const lines = fc.array(
    line.map((parts) => parts.join("")),
    { minLength: 1, maxLength: 6 },
  );
  fc.assert(
    fc.property(lines, (yaml) => {
      // A comment alone is no map.
      fc.pre(yaml.join("").trim() !== "");
      const read = (above: string[]) => {
        const text = ["---", ...above, ...yaml, "---", "x"].join("\n");
        return [parseMarkdown("a.md", text).frontmatter, readFrontmatterValues(text)];
      };
      expect(read([])).toEqual(read(["# comment"]));
    }),
    { numRuns: 1_500 },
  );
});

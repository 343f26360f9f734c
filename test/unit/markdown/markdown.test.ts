import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chunkMarkdown, countTokens, parseMarkdown } from "../../../src/markdown/index.ts";
import { CHUNK_MAX_CHARS, FRONTMATTER_MAX_CHARS } from "../../../src/shared/limits.ts";

const page = (yaml: string, body = "text\n") => `---\n${yaml}\n---\n${body}`;

describe("frontmatter", () => {
  test("frontmatter keeps file order, scalars as written, and nested values as compact JSON", () => {
    const text = page(
      [
        "zeta: last comes first",
        "version: 1.10",
        "date: 2024-05-01",
        "draft: true",
        "empty:",
        "tags: [a, b c]",
        "owner:\n  name: Ada\n  rooms: [1, 2.50]",
        "long: >-\n  folded\n  text",
      ].join("\n"),
    );
    expect(parseMarkdown("a.md", text).frontmatter).toEqual([
      { key: "zeta", value: "last comes first" },
      { key: "version", value: "1.10" },
      { key: "date", value: "2024-05-01" },
      { key: "draft", value: "true" },
      { key: "empty", value: "" },
      { key: "tags", value: '["a","b c"]' },
      { key: "owner", value: '{"name":"Ada","rooms":[1,"2.50"]}' },
      { key: "long", value: "folded text" },
    ]);
  });

  test("titles and headings are text that can be stored, whatever escapes stand for and wherever they are cut", () => {
    const texts = [
      page('title: "a\\0b"'),
      page('title: "a\\uD83D"'),
      ...["", "a"].map((start) => `# ${start}${"🚀".repeat(2_000)}\n\ntext`),
      ...["", "a"].map((start) => page(`title: "${start}${"🚀".repeat(400)}"`)),
    ];
    for (const text of texts) {
      const { title, headings } = parseMarkdown("a.md", text);
      const chunks = chunkMarkdown(text).flatMap(({ content, metadata }) => [content, metadata]);
      expect([title, headings, chunks].map((part) => JSON.stringify(part))).toSatisfy((parts) =>
        parts.every((part: string) => !/\\u(?:0000|d[89a-f])/.test(part)),
      );
    }
    expect(parseMarkdown("a.md", texts[0] as string).title).toBe("a\ufffdb");
  });

  test("frontmatter is found after a byte order mark and with Windows line endings", () => {
    const parsed = parseMarkdown("a.md", "\ufeff---\r\ntitle: Hello\r\n---\r\n# One\r\ntext\r\n");
    expect([parsed.title, parsed.headings, parsed.warning]).toEqual(["Hello", ["One"], null]);
  });

  test("frontmatter may use YAML aliases, whose name is the latest value with it", () => {
    const yaml = "tags: &t [a, b]\nmore: *t\nlast: &t c\nnested: { one: *t }";
    const { frontmatter, warning } = parseMarkdown("a.md", `---\n${yaml}\n---\ntext`);
    expect(warning).toBeNull();
    expect(frontmatter).toEqual([
      { key: "tags", value: '["a","b"]' },
      { key: "more", value: '["a","b"]' },
      { key: "last", value: "c" },
      { key: "nested", value: '{"one":"c"}' },
    ]);
  });

  const refused: Array<[string, string, RegExp]> = [
    ["an alias that names nothing", "b: *x", /alias/],
    ["an alias of itself", "a: &x [*x]", /nested too deeply/],
    [
      "a billion laughs",
      `a: &a [x, x]\n${[..."bcdefghijklmno"]
        .map((key, i) => `${key}: &${key} [*${"abcdefghijklmn"[i]}, *${"abcdefghijklmn"[i]}]`)
        .join("\n")}`,
      /too many values/,
    ],
    ["a list at the root", "- one\n- two", /not a map/],
    ["a scalar at the root", "just words", /not a map/],
    ["duplicate keys", "a: 1\na: 2", /line 3/],
    ["an open quote", 'a: "never closed', /not valid YAML at line/],
    ["tabs as indentation", "a:\n\t- b", /not valid YAML at line 3/],
    ["very deep brackets", `a: ${"[".repeat(20_000)}`, /nested too deeply/],
    ["very deep maps", `${"{a: ".repeat(10_000)}`, /nested too deeply/],
    ["moderately deep nesting", `a: ${"[".repeat(30)}${"]".repeat(30)}`, /nested too deeply/],
    [
      "very deep indentation",
      Array.from({ length: 300 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
      /nested too deeply/,
    ],
    ["very deep lists", "- ".repeat(30_000), /nested too deeply/],
    ["too many values", `a: [${"1,".repeat(10_000)}1]`, /too many values/],
    [
      "too many keys",
      Array.from({ length: 1_000 }, (_, i) => `k${i}: v`).join("\n"),
      /more than \d+ keys/,
    ],
  ];
  for (const [what, yaml, reason] of refused) {
    test(`frontmatter with ${what} is ignored with a warning, and the body is kept`, () => {
      const parsed = parseMarkdown("a.md", page(yaml, "# Title\nbody\n"));
      expect(parsed.warning).toMatch(reason);
      expect(parsed.warning?.length).toBeLessThan(120);
      expect([parsed.frontmatter, parsed.title, parsed.content]).toEqual([[], "Title", "body\n"]);
    });
  }

  test("frontmatter without a closing fence is text, with a warning", () => {
    const parsed = parseMarkdown("a.md", "---\ntitle: x\nbody");
    expect(parsed.warning).toMatch(/not closed/);
    expect(parsed.content).toBe("---\ntitle: x\nbody");
    const long = parseMarkdown("a.md", page(`a: ${"x".repeat(FRONTMATTER_MAX_CHARS)}`));
    expect(long.warning).toMatch(/not closed/);
  });

  test("keys such as __proto__ are ordinary keys", () => {
    const parsed = parseMarkdown("a.md", page("__proto__: {__proto__: 1, constructor: 2}"));
    expect(parsed.frontmatter).toEqual([
      { key: "__proto__", value: '{"__proto__":1,"constructor":2}' },
    ]);
  });

  test("frontmatter can be absent or empty", () => {
    expect(parseMarkdown("a.md", "text")).toMatchObject({ frontmatter: [], warning: null });
    expect(parseMarkdown("a.md", "---\n---\ntext")).toMatchObject({
      frontmatter: [],
      warning: null,
      content: "text",
    });
  });
});

describe("titles and headings", () => {
  test("the title is the frontmatter's, else the first level-1 heading, else the file name", () => {
    expect(parseMarkdown("a.md", page("title: One", "# Two\n")).title).toBe("One");
    expect(parseMarkdown("a.md", page("title: ''", "## Three\n# Two\n")).title).toBe("Two");
    expect(parseMarkdown("folder/my-page.mdx", "## Three\n").title).toBe("my-page");
  });

  test("hashes are dropped only where they close a heading", () => {
    const text = "# Learning C#\n## Closed ##\n### #\n#### a # b\n";
    expect(parseMarkdown("a.md", text).headings).toEqual(["Learning C#", "Closed", "a # b"]);
  });

  test("headings are plain text, and fenced code has no headings", () => {
    const text = [
      "# The `first` **one** #",
      "~~~~sh",
      "# a comment",
      "~~~",
      "# still code",
      "~~~~",
      "Underlined",
      "==========",
      "- item",
      "---",
      "#hashtag",
      "## With [a link](https://example.org) {#anchor}",
      "```js inline``` # no fence",
      "### Last",
    ].join("\n");
    const { headings, content } = parseMarkdown("a.md", text);
    expect(headings).toEqual(["The first one", "Underlined", "With a link", "Last"]);
    expect(content).toContain("# a comment");
    expect(content).not.toContain("Underlined");
  });
});

describe("arbitrary text", () => {
  const fragment = fc.constantFrom(
    ..."---|\n|\r\n|# Title|## Two|```|~~~|====|a: b|- |[|]|{|&a|*a|!!|'|\"|: |\ufeff|\0|𝒳|検索|\ud800|word |. ".split(
      "|",
    ),
    "paragraph ".repeat(40),
    "x".repeat(CHUNK_MAX_CHARS),
    "\n\n",
  );
  const anyText = fc.oneof(
    fc.array(fragment, { maxLength: 60 }).map((parts) => parts.join("")),
    fc.array(fragment, { maxLength: 60 }).map((parts) => `---\n${parts.join("")}`),
    fc.string({ unit: "binary", maxLength: 400 }),
  );

  test("parsing never throws and always gives a title of bounded length", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const parsed = parseMarkdown("dir/name.md", text);
        expect(parsed.title.length).toBeGreaterThan(0);
        expect(parsed.title.length).toBeLessThanOrEqual(512);
        expect(parsed.bodyOffset).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 500 },
    );
  });

  test("chunks are slices of bounded size that cover the body exactly once", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        let end = parseMarkdown("a.md", text).bodyOffset;
        for (const chunk of chunkMarkdown(text)) {
          expect(text.slice(chunk.start_offset, chunk.end_offset)).toBe(chunk.content);
          expect(chunk.content.length).toBeGreaterThan(0);
          expect(chunk.content.length).toBeLessThanOrEqual(CHUNK_MAX_CHARS);
          expect(chunk.token_count).toBe(countTokens(chunk.content));
          expect(chunk.start_offset).toBeGreaterThanOrEqual(end);
          expect(text.slice(end, chunk.start_offset).trim()).toBe("");
          end = chunk.end_offset;
        }
        expect(text.slice(end).trim()).toBe("");
      }),
      { numRuns: 500 },
    );
  });
});

describe("chunks", () => {
  test("chunks follow the headings and list those above them", () => {
    const text = page(
      "title: T",
      "intro\n\n# A\n\ntext of A\n\n## B\n\n### C\n\ntext of C\n\n# D\n\ntext of D\n",
    );
    const chunks = chunkMarkdown(text);
    expect(chunks.map((chunk) => chunk.metadata.headings)).toEqual([
      [],
      ["A"],
      ["A", "B", "C"],
      ["D"],
    ]);
    expect(chunks[2]?.content).toBe("## B\n\n### C\n\ntext of C");
  });

  test("a huge file is split without loss", () => {
    const text = "word ".repeat(400_000);
    const chunks = chunkMarkdown(text);
    expect(chunks.length).toBeGreaterThan(900);
    expect(chunks.reduce((sum, chunk) => sum + chunk.token_count, 0)).toBe(400_000);
  });
});

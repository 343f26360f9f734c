import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  countTokens,
  markdownChunks,
  parseMarkdown,
  plainText,
} from "../../../../src/documents/markdown/index.ts";
import { CHUNK_MAX_CHARS, FRONTMATTER_MAX_CHARS } from "../../../../src/domain/limits.ts";

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
      const chunks = [...markdownChunks(text)].flatMap(({ content, metadata }) => [
        content,
        metadata,
      ]);
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
    test(`frontmatter with ${what} is text, with a warning`, () => {
      const parsed = parseMarkdown("a.md", page(yaml, "# Title\nbody\n"));
      expect(parsed.warning).toMatch(reason);
      expect(parsed.warning?.length).toBeLessThan(120);
      expect([parsed.frontmatter, parsed.title, parsed.headings]).toEqual([[], "Title", ["Title"]]);
      expect(parsed.content).toBe(`---\n${yaml}\n---\n\n\nbody`);
    });
  }

  test("a block that is no map of keys to values is content", () => {
    for (const block of ["- one\n- two", "just words", "\n# Title\n\ntext\n"]) {
      const text = `---\n${block}\n---\n\nafter the rule\n`;
      const { warning, frontmatter, content, bodyOffset, headings } = parseMarkdown("a.md", text);
      expect([warning, frontmatter, bodyOffset]).toEqual([null, [], 0]);
      const words = (each: string) => each.match(/[a-z]+/gi)?.toSorted();
      expect(words([content, ...headings].join("\n"))).toEqual(words(text));
    }
  });

  test("frontmatter of TOML is read as that of YAML is", () => {
    const toml =
      'title = "Hugo"\ndate = 2024-05-01\nweight = 9007199254740993\ntags = ["a", "b"]\n[params]\nx = 1.5';
    const parsed = parseMarkdown("a.md", `+++\n${toml}\n+++\n# One\n`);
    expect([parsed.title, parsed.headings, parsed.warning]).toEqual(["Hugo", ["One"], null]);
    expect(Object.fromEntries(parsed.frontmatter.map(({ key, value }) => [key, value]))).toEqual({
      title: "Hugo",
      date: "2024-05-01",
      weight: "9007199254740993",
      tags: '["a","b"]',
      params: '{"x":1.5}',
    });
    const broken = parseMarkdown("a.md", "+++\na = 1\na = 2\n+++\nbody");
    expect(broken.warning).toBe("frontmatter is not valid TOML at line 3");
    expect(broken.content).toBe("+++\na = 1\na = 2\n+++\n\n\nbody");
  });

  test("placeholders of templates are text", () => {
    const yaml =
      "title: {{title}}\ncreated: <% tp.date.now() %>\nday: {{date:YYYY}} it's\nlist:\n  - {{x}}";
    expect(parseMarkdown("a.md", page(yaml)).frontmatter).toEqual([
      { key: "title", value: "{{title}}" },
      { key: "created", value: "<% tp.date.now() %>" },
      { key: "day", value: "{{date:YYYY}} it's" },
      { key: "list", value: '["{{x}}"]' },
    ]);
  });

  test("frontmatter without a closing fence is text, with a warning", () => {
    const parsed = parseMarkdown("a.md", "---\ntitle: x\nbody");
    expect(parsed.warning).toMatch(/not closed/);
    expect(parsed.content).toBe("title: x\nbody");
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
  test("the title is the frontmatter's, else the first level-1 heading, a heading at the beginning, or the file name", () => {
    expect(parseMarkdown("a.md", page("title: One", "# Two\n")).title).toBe("One");
    expect(parseMarkdown("a.md", page("title: ''", "## Three\n# Two\n")).title).toBe("Two");
    expect(parseMarkdown("folder/my-page.mdx", "text\n").title).toBe("my-page");
    expect(parseMarkdown("a.markdown", "### Four\n\ntext\n\n## Five\n").title).toBe("Four");
    expect(parseMarkdown("a.md", "<!-- note -->\n\n#\n\n## Five\n").title).toBe("Five");
    // A heading further down is one of a section.
    expect(parseMarkdown("set.md", "text\n\n## Options\n").title).toBe("set");
    expect(parseMarkdown("a/report.docx.md", "text\n").title).toBe("report");
    expect(parseMarkdown("a/.html.md", "text\n").title).toBe(".html");
    expect(parseMarkdown("set.md", page("title: [", "## Options\n")).title).toBe("set");
  });
});

describe("documents of sites and vaults", () => {
  const headingsOf = (text: string) => parseMarkdown("a.mdx", text).headings;
  const contentOf = (text: string) => parseMarkdown("a.mdx", text).content.replace(/\s+/g, " ");

  test("headings keep their code, their entities and what only looks like markup", () => {
    const headings: Record<string, string> = {
      "# `<Suspense>`": "<Suspense>",
      "# Map<K, V>": "Map<K, V>",
      "# 2 * 3 * 4": "2 * 3 * 4",
      "# Tom &amp; Jerry": "Tom & Jerry",
      "# my\\_func": "my_func",
      "# Reference {/*reference*/}": "Reference",
      "## Usage {#usage} ##": "Usage",
      "A heading of\ntwo lines\n===": "A heading of two lines",
      "# a\u2028b": "a b",
      '<h1 align="center">In <em>HTML</em></h1>\n\ntext': "In HTML",
      "# [menu templates][]\n\n[menu templates]: /x": "menu templates",
      "> # In a quote": "In a quote",
    };
    for (const [text, heading] of Object.entries(headings))
      expect(headingsOf(text)).toEqual([heading]);
  });

  test("headings are found after a fence that ends in the indentation of an item, and not where they are hidden", () => {
    const hidden = [
      "1. Step\n\n   ```bash\n   # no\n     ```",
      "- Step\n  ```bash\n  # no\n    ```",
      "<!--\n# no\n-->",
      "<pre>\n# no\n</pre>",
      "<script>\n# no\n</script>",
      "{/*\n\n# no\n*/}",
      "```\n# no\n```",
      'export const meta = {\n  a: "# no",\n}',
    ];
    for (const block of hidden)
      expect(headingsOf(`# Doc\n\n${block}\n\n## After\n`)).toEqual(["Doc", "After"]);
    const tabs = '<Tabs>\n  <Tab title="T">\n\n## In tab\n\ntext\n\n  </Tab>\n</Tabs>\n';
    expect(headingsOf(tabs)).toEqual(["In tab"]);
  });

  test("the text is what a reader sees", () => {
    const texts: Record<string, string> = {
      "see [menu templates][] and [this][x]\n\n[x]: /url": "see menu templates and this",
      "a[i][j]": "a[i][j]",
      "> [!NOTE]\n> careful **now**": "careful now",
      ":::tip[Title]\nbody\n:::": "Title body",
      'text {{< ref "a" >}}{{% note %}}{% raw %} more': "text more",
      "import X from 'y'\nimport {\n  a,\n} from 'b'\n\ntext": "text",
      "Import rules from another server.": "Import rules from another server.",
      "export default the settings": "export default the settings",
      "a <Foo bar={x > 1}>b</Foo> c<br/>d": "a b c d",
      "[[Page|alias]] [[Other]] ![[image.png]]": "alias Other image.png",
      "note[^1]\n\n[^1]: word\n\n[^2]: Long note.": "note word Long note.",
      "- [x] done\n- [ ] open": "done open",
      "| a | b |\n|---|---|\n| 1 | ~~2~~ |": "a b 1 2",
      "<details><summary>Sum</summary>Hidden</details>": "Sum Hidden",
      "<div>\n<!-- gone -->\n<style>p {}</style>\nkept &amp; shown\n</div>": "kept & shown",
      "`Map<K, V>` and `*`": "Map<K, V> and *",
    };
    for (const [text, shown] of Object.entries(texts)) expect(contentOf(text)).toBe(shown);
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

  test("chunks are slices of bounded size that have everything a reader sees exactly once", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { bodyOffset } = parseMarkdown("a.md", text);
        let end = 0;
        let left = "";
        for (const chunk of markdownChunks(text)) {
          expect(text.slice(chunk.start_offset, chunk.end_offset)).toBe(chunk.content);
          expect(chunk.content.trim()).not.toBe("");
          expect(chunk.content.length).toBeLessThanOrEqual(CHUNK_MAX_CHARS);
          expect(chunk.token_count).toBe(countTokens(chunk.content));
          expect(chunk.start_offset).toBeGreaterThanOrEqual(end);
          if (chunk.start_offset > bodyOffset) {
            left += `\n\n${text.slice(Math.max(end, bodyOffset), chunk.start_offset)}`;
          }
          end = chunk.end_offset;
        }
        left += `\n\n${text.slice(Math.max(end, bodyOffset))}`;
        expect(plainText(left).replace(/[-|*_ \s]/g, "")).toBe("");
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
    const chunks = [...markdownChunks(text)];
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
    const chunks = [...markdownChunks(text)];
    expect(chunks.length).toBeGreaterThan(900);
    expect(chunks.reduce((sum, chunk) => sum + chunk.token_count, 0)).toBe(400_000);
  });

  const filler = (words: number) => "some more words here. ".repeat(words / 4);

  test("a fence, a row of a table and an item of a list that fit into a chunk are never cut", () => {
    const code = (n: number) => `\`\`\`js\n${`line${n}();\n\n`.repeat(30 + (n % 5) * 20)}\`\`\``;
    const item = (n: number) =>
      `- item${n} ${filler(120)}\n\n  ${code(n).replaceAll("\n", "\n  ")}`;
    const row = (n: number) => `| row${n} | ${filler(60 + 40 * (n % 4))} |`;
    const numbers = Array.from({ length: 12 }, (_, n) => n);
    const blocks = {
      fences: numbers.map((n) => `${code(n)}\n\n${filler(20 * n)}`).join("\n\n"),
      list: numbers.map(item).join("\n\n"),
      quote: `> ${numbers.map(code).join("\n\n").replaceAll("\n", "\n> ")}`,
      table: `| a | b |\n|---|---|\n${numbers.map(row).join("\n")}`,
    };
    for (const [name, text] of Object.entries(blocks)) {
      const contents = [...markdownChunks(`# H\n\n${text}\n`)].map(({ content }) => content);
      expect(contents.length, name).toBeGreaterThan(3);
      for (const n of numbers) {
        const whole = {
          fences: code(n),
          list:
            item(n).trim().length <= CHUNK_MAX_CHARS ? item(n) : code(n).replaceAll("\n", "\n  "),
          quote: code(n).replaceAll("\n", "\n> "),
          table: row(n),
        }[name] as string;
        expect(
          contents.some((content) => content.includes(whole.trim())),
          `${name} ${n}`,
        ).toBeTrue();
      }
    }
  });

  test("a sentence that fits into a chunk is never cut, in any script", () => {
    const sentences = [
      (n: number) => `Number ${n} is a sentence with\nsome words in it. `,
      (n: number) => `第${n}句话说明了如何配置服务器，以及为什么需要这样做。`,
      (n: number) => `それは${n}番目の文です！`,
      (n: number) => `هل هذه هي الجملة رقم ${n} في النص؟ `,
      (n: number) => `यह वाक्य संख्या ${n} है। `,
    ];
    for (const sentence of sentences) {
      const all = Array.from({ length: 300 }, (_, n) => sentence(n));
      const text = all.join("").trim();
      const contents = [...markdownChunks(text)].map(({ content }) => content);
      expect(contents.length).toBeGreaterThan(1);
      for (const each of all) expect(contents.some((c) => c.includes(each.trim()))).toBeTrue();
    }
  });

  test("long code is cut after empty lines, or else where it is indented least", () => {
    const block = (n: number) => `function f${n}() {\n${"  call();\n".repeat(30)}}\n`;
    const blocks = Array.from({ length: 20 }, (_, n) => block(n));
    for (const separator of ["\n", ""]) {
      const [first, ...others] = [...markdownChunks(`\`\`\`js\n${blocks.join(separator)}\`\`\``)];
      expect(first?.content).toStartWith("```js\nfunction f0()");
      for (const { content } of others) expect(content).toMatch(/^(?:function|```)/);
    }
  });

  test("a heading stays with what follows it, and what a reader does not see is no chunk", () => {
    const code = `\`\`\`\n${"x = 1\n".repeat(250)}\`\`\``;
    const [chunk, ...others] = [
      ...markdownChunks(`# Title\n\n${code}\n\n[a]: /b\n[c]: /d\n\n<!-- note -->\n\n{{< toc >}}\n`),
    ];
    expect(chunk?.content).toBe(`# Title\n\n${code}`);
    expect(others).toEqual([]);
    expect([...markdownChunks("import A from 'a'\n\n<!-- only this -->\n")]).toEqual([]);
  });
});

test("a text has as many tokens beside letters of other scripts as alone", () => {
  const ascii = fc.string({ unit: fc.nat(127).map((code) => String.fromCharCode(code)) });
  fc.assert(
    fc.property(ascii, (text) => {
      expect(countTokens(`${text}漢`)).toBe(countTokens(text) + 1);
    }),
  );
});

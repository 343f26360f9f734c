import { describe, expect, test } from "bun:test";
import {
  markdownChunks,
  parseMarkdown,
  readFrontmatterValues,
} from "../../../../src/documents/markdown/index.ts";

const shown = (text: string) => parseMarkdown("a.md", text).content.replace(/\s+/g, " ");

/** By what writes it: Markdown, and what a reader sees of it. */
const dialects: Record<string, Record<string, string>> = {
  Obsidian: {
    "before %%a secret%% after": "before after",
    "before\n\n%%\na secret\n\n- of two blocks\n%%\n\nafter": "before after",
    "before\n%% a line %%\nafter": "before after",
    "100%% sure and 50%% off": "100%% sure and 50%% off",
    "not closed %% is text": "not closed %% is text",
    "some ==marked **words**== here": "some marked words here",
    "if a == b and b == c": "if a == b and b == c",
    "a==b and c==d": "a==b and c==d",
    "`a ==b== c`": "a ==b== c",
    "A paragraph. ^37066d": "A paragraph.",
    "A paragraph. ^123456": "A paragraph.",
    "- an item ^my-item\n- next": "an item next",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n^my-table": "a b 1 2",
    "the power 10 ^10": "the power 10 ^10",
    "a ^caret in a sentence": "a ^caret in a sentence",
    "> [!note] A title\n> body": "A title body",
    "> [!faq]- Is it *folded*?\n> > [!todo]+ Inside\n> > body": "Is it folded? Inside body",
    "> [!note|wide] Title\n> body": "Title body",
    "> [!multi word]\n> body": "body",
    "created <% tp.date.now() %> today": "created today",
  },
  MkDocs: {
    '!!! note "A *title*"\n\n    body\n\n    - item': "A title body item",
    "!!! warning\n    body": "body",
    '??? tip inline end "Folded"\n    body\n\nafter': "Folded body after",
    '???+ tip ""\n    body': "body",
    'before\n!!! note "T"\n    body\nafter': "before T body after",
    '=== "Linux"\n\n    on Linux\n\n=== "macOS"\n\n    on macOS': "Linux on Linux macOS on macOS",
    '!!! note "Out"\n    ??? tip "In"\n        body\n\n    more': "Out In body more",
    "!!! read this first": "!!! read this first",
    "Title\n===": "",
    "a button{ .md-button #go }": "a button",
  },
  Docusaurus: {
    ":::note A title\n\nbody\n\n:::": "A title body",
    ":::tip[In brackets]\nbody\n:::": "In brackets body",
    '::::danger{id="x"} T\n:::info\nin\n:::\n::::': "T in",
    ":::\n\nbody": "body",
  },
  kramdown: {
    "A paragraph\n{: .note }": "A paragraph",
    '[link](/a){:target="_blank" title="a {b}, c"}': "link",
    "* TOC\n{:toc}\n\ntext": "TOC text",
    "{::comment}\na secret\n\nof two\n{:/comment}\n\ntext": "text",
    "{::nomarkdown}kept{:/}": "kept",
  },
  templates: {
    "Version {{ site.version }} of {{{ name }}}.": "Version of .",
    '{% include "a.html" with {"b": 1} %}text{% raw %} more': "text more",
    "<div>\n{{ content }}{% if x %}shown{% endif %}\n</div>": "shown",
    "`{{ .Title }}` is a title": "{{ .Title }} is a title",
    "```go\n{{ .Title }}\n```": "{{ .Title }}",
    "title = '{{ replace .File.Name }}'": "title = '{{ replace .File.Name }}'",
    "the function {{ .Title }} and {{ $x }}": "the function {{ .Title }} and {{ $x }}",
    "{{#each items}}{{name}}{{/each}} {{! note }}end": "end",
    [`set \${{ github.ref }} there`]: `set \${{ github.ref }} there`,
    "$\\frac{{a}}{2} x_{{i}}$": "$\\frac{{a}}{2} x_{{i}}$",
  },
};

for (const [writer, cases] of Object.entries(dialects)) {
  test(`the text of ${writer} is what a reader sees`, () => {
    for (const [text, wanted] of Object.entries(cases)) expect(shown(text), text).toBe(wanted);
  });
}

test("what a reader sees nothing of makes no chunk, and headings in boxes are headings", () => {
  const text = `# Doc

!!! note "T"

    ## In a box {: .class }

    body

%%
hidden
%%

{: .class }

^id

{{ template }}
`;
  const chunks = [...markdownChunks(text)];
  expect(chunks.map(({ metadata }) => metadata.headings)).toEqual([["Doc"]]);
  expect(chunks[0]?.content).toEndWith("body");
  expect(parseMarkdown("a.md", text).headings).toEqual(["Doc", "In a box"]);
  expect(parseMarkdown("a.md", "# {{ page.title }}\n\ntext").title).toBe("a");
});

test("a long box is cut between its blocks", () => {
  const item = (n: number) => `    - item ${n} ${"word ".repeat(80).trim()}`;
  const items = Array.from({ length: 12 }, (_, n) => item(n));
  const contents = [...markdownChunks(`!!! note "T"\n\n${items.join("\n")}\n`)].map(
    ({ content }) => content,
  );
  expect(contents.length).toBeGreaterThan(2);
  for (const each of items) expect(contents.some((c) => c.includes(each.trim()))).toBeTrue();
});

describe("frontmatter of JSON", () => {
  const json = '{\n  "title": "A {title}",\n  "n": 1.10,\n  "tags": ["a", {"b": null}]\n}';
  const forms = { braces: json, fences: `---json\n${json}\n---`, "a mark": `\ufeff${json}` };
  test.each(Object.entries(forms))("is read in %s as that of YAML is", (_, block) => {
    const text = `${block}\n# One\n\nbody\n`;
    const { title, frontmatter, warning, content, bodyOffset } = parseMarkdown("a.md", text);
    expect([title, warning, content]).toEqual(["A {title}", null, "body"]);
    expect(text.slice(bodyOffset)).toBe("# One\n\nbody\n");
    expect(frontmatter).toEqual([
      { key: "title", value: "A {title}" },
      { key: "n", value: "1.10" },
      { key: "tags", value: '["a",{"b":null}]' },
    ]);
    expect(JSON.stringify(readFrontmatterValues(text))).toBe(
      JSON.stringify(JSON.parse(json)).replace("1.1", "1.10"),
    );
  });

  test("that is not valid is text, with a warning", () => {
    const deep = `{\n"a": ${"[".repeat(20)}${"]".repeat(20)}}`;
    const many = `{\n${Array.from({ length: 300 }, (_, i) => `"k${i}": 1`).join(",\n")}}`;
    for (const [block, warning] of [
      ['{\n"a": 1,\n}', "frontmatter is not valid JSON"],
      [deep, "frontmatter is nested too deeply"],
      [many, "frontmatter has more than 256 keys"],
    ] as const) {
      const parsed = parseMarkdown("a.md", `${block}\n\nbody`);
      expect([parsed.warning, parsed.frontmatter]).toEqual([warning, []]);
      expect(parsed.content).toBe(`${block}\n\n\nbody`);
    }
  });

  test("is not what other braces begin", () => {
    for (const text of [
      "{{ x }}\n\nbody",
      "{: .a }\n\nbody",
      "{\nnot closed",
      '{"a": 1} goes on',
      "---json\n[1]\n---\nbody",
    ]) {
      expect(parseMarkdown("a.md", text)).toMatchObject({ frontmatter: [], bodyOffset: 0 });
    }
  });

  test.each(["yaml", " yml"])("fences may name YAML: %p", (name) => {
    const { frontmatter, content } = parseMarkdown("a.md", `---${name}\na: b\n---\nbody`);
    expect([frontmatter, content]).toEqual([[{ key: "a", value: "b" }], "body"]);
  });
});

import { expect, test } from "bun:test";
import { parseMarkdown } from "../../../../src/documents/markdown/index.ts";

interface Example {
  readonly number: number;
  readonly section: string;
  readonly markdown: string;
  readonly html: string;
}
// The package has no types of its own.
const { tests }: { readonly tests: readonly Example[] } = require("commonmark-spec");

/** Examples that mean something else here, with the reason. */
const OTHERS: Readonly<Record<number, string>> = {
  537: "[text][label] is a link, wherever its definition is",
  538: "[text][label] is a link, wherever its definition is",
  545: "[text][label] is a link, wherever its definition is",
  569: "[text][label] is a link, wherever its definition is",
  571: "[text][label] is a link, wherever its definition is",
  616: "has a tag in an attribute, which this test does not know",
};
/** What a reader does not see, with its end. */
const HIDDEN =
  /<(script|style)\b[\s\S]*?(?:<\/\1>|$)|<!--(?:-?>|[\s\S]*?-->)|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<![A-Z][^>]*>/g;

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };
const decoded = (html: string) =>
  html
    .replace(/<[^<>]*>/g, " ")
    .replace(/&(amp|lt|gt|quot);/g, (_, name: string) => ENTITIES[name] as string);
const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();

const HEADING = /<h([1-6])>([\s\S]*?)<\/h\1>/g;
const CODE = /<pre><code[^>]*>([\s\S]*?)<\/code><\/pre>/g;

for (const { number, section, markdown, html } of tests) {
  if (number in OTHERS) continue;
  const source = markdown.replaceAll("→", "\t");
  const result = html.replaceAll("→", "\t");
  test(`example ${number} of CommonMark (${section}) has its headings, code and text`, () => {
    // A line before keeps a rule at the top from being the fence of frontmatter.
    const { headings, content } = parseMarkdown("a.md", `<!-- -->\n\n${source}`);
    const expected = [...result.matchAll(HEADING)].map(([, , inner = ""]) =>
      oneLine(decoded(inner)),
    );
    expect(headings.map(oneLine)).toEqual(expected.filter((each) => each !== ""));
    for (const [, code = ""] of result.matchAll(CODE))
      expect(content).toContain(decoded(code).trimEnd());
    // Elements inside a word are spaces here.
    const words = (text: string) => (text.match(/[\p{L}\p{N}]+/gu) ?? []).join("");
    expect(words(content)).toEqual(
      words(
        decoded(
          result
            .replace(HIDDEN, " ")
            .replace(HEADING, " ")
            .replace(/alt="([^"]*)"[^>]*>/g, ">$1"),
        ),
      ),
    );
  });
}

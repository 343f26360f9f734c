import { describe, expect, test } from "bun:test";
import { createRequire } from "node:module";
import fc from "fast-check";
import { htmlToMarkdown } from "../../../src/import/markdown/html.ts";
import { depthOf } from "../../../src/import/markdown/html-depth.ts";
import { CONVERTED_MAX_CHARS } from "../../../src/shared/limits.ts";

/** The parser of the converter. */
const { createDocument } = createRequire(require.resolve("turndown"))("@mixmark-io/domino");

interface Tree {
  readonly firstChild: Tree | null;
  readonly nextSibling: Tree | null;
}

function nesting(root: Tree): number {
  let deepest = 0;
  const pending: [Tree, number][] = [[root, 0]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [node, depth] = next;
    deepest = Math.max(deepest, depth);
    for (let child = node.firstChild; child !== null; child = child.nextSibling) {
      pending.push([child, depth + 1]);
    }
  }
  return deepest;
}

describe("converting HTML", () => {
  test("lists, code, emphasis and whitespace become Markdown", () => {
    const page =
      "<ol start=3><li>a<!-- c --></li>\n<li>b <ul><li>c</li></ul></li></ol>" +
      "<p>x<b> y </b>z <code> `` ` </code> <i> </i>\u00a0 <em>\u00a0e</em></p><div> <span></span> </div>";
    expect(htmlToMarkdown(page)).toBe(
      "3.  a\n4.  b\n    *   c\n\nx **y** z ``` `` ` ``` \u00a0 \u00a0_e_",
    );
  });

  test("words of different elements are never glued together, and menus are left out", () => {
    const pairs = [
      ["<details><summary>", "</summary>", "</details>"],
      ["<dl><dt>", "</dt><dd>", "</dd></dl>"],
      ["<select><option>", "</option><option>", "</option></select>"],
      ["<button>", "</button><button>", "</button>"],
      ["<label>", "</label><label>", "</label>"],
      ["<fieldset><legend>", "</legend>", "</fieldset>"],
      ["<figure><figcaption>", "</figcaption></figure>", ""],
      ["<custom-one>", "</custom-one><custom-one>", "</custom-one>"],
      ["<custom-one><p>", "</p></custom-one><p>", "</p>"],
      ["<address>", "</address>", ""],
      ["<table><caption>", "</caption><tr><td>", "</td></tr></table>"],
      ["<table><tr><td>", "</td><td>", "</td></tr></table>"],
      ["<table><tr><th>", "</th></tr><tr><td>", "</td></tr></table>"],
      ["<ul><li>", "<li>", "</ul>"],
      ["<p>", "<div>", "</div>"],
      ["", "<br>", ""],
    ];
    for (const [before, between, after] of pairs) {
      const markdown = htmlToMarkdown(`${before}First${between}Second${after}`);
      expect(markdown, before).toMatch(/First\s+(?:\S\s+)?Second/);
    }
    // Elements in each other do not indent a line as far as code.
    const nested = "<x-a><x-b><x-c><x-d><x-e>One</x-e></x-d></x-c></x-b></x-a>";
    expect(htmlToMarkdown(`<p>Text</p>${nested}`)).toMatch(/\n {0,3}One$/);
    // Browsers show these as one word.
    expect(htmlToMarkdown("<p>Fir<b></b>st<wbr>ly <span>A</span><span>b</span></p>")).toBe(
      "Firstly Ab",
    );
    expect(htmlToMarkdown('<div role="navigation">menu</div><p>text</p>')).toBe("text");
  });

  test("lines of code without a language are no headings", () => {
    const markdown = htmlToMarkdown("<pre># one\n```\n  two\n</pre><p>text</p>");
    expect(markdown).toBe("````\n# one\n```\n  two\n````\n\ntext");
  });

  const fill = (piece: string, chars = CONVERTED_MAX_CHARS) =>
    piece.repeat(Math.floor(chars / piece.length) - 32);
  // Elements take far more work than text, so a smaller page shows as much.
  const elements = (piece: string) => fill(piece, CONVERTED_MAX_CHARS / 8);
  // With a time that grows with the square of the size, each of these would take many minutes.
  test.each([
    ["blank lines of code", () => `<pre><code>${fill("\n")}x</code></pre>`],
    ["items of a numbered list", () => `<ol>${elements("<li>x</li>")}</ol>`],
    ["spaces in code", () => `<p><code> ${fill("x")}</code></p>`],
    ["empty elements in each other", () => elements("<div>".repeat(100) + "</div>".repeat(100))],
  ])("a large page is converted: %s", (_, page) => {
    expect(() => htmlToMarkdown(page())).not.toThrow();
  });

  test("pages that are too large or nested too deeply are refused", () => {
    expect(() => htmlToMarkdown("x".repeat(CONVERTED_MAX_CHARS + 1))).toThrow("characters of HTML");
    const pages = ["<div>", "<font></x>", "<span><div></span>", "<div><b></div>"];
    // A block ends the SVG that it stands in, and stays open.
    for (const page of [...pages, "<svg><div></svg>", "<math><p><x></math>"]) {
      expect(() => htmlToMarkdown(page.repeat(100_000)), page).toThrow("nested too deeply");
    }
    const sloppy = "<ul><li><p>a<li><b>b</b></ul><table><tr><td>c<td>d</table><br></p></i>";
    expect(() => htmlToMarkdown(sloppy.repeat(1_000))).not.toThrow();
  });

  test("the estimated depth is at least a part of what the parser nests, whatever the tags", () => {
    const names = "div span b i table td tr ul li p a font section button svg label nobr code x";
    const tag = fc
      .tuple(fc.constantFrom("", "", "/"), fc.constantFrom(...names.split(" ")), fc.nat(3))
      .map(([end, name, value]) => `<${end}${name}${end === "" ? ` a=${value}` : ""}>`);
    const pieces = fc.array(fc.oneof(tag, tag, fc.constant("text")), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 30 }), (parts, times) => {
        const page = parts.join("").repeat(times);
        // Elements with an optional end tag come between: table, tbody, tr, td.
        expect(nesting(createDocument(page))).toBeLessThanOrEqual(6 * depthOf(page, Infinity) + 16);
      }),
    );
  });
});

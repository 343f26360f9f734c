import { describe, expect, test } from "bun:test";
import { plainText as shownText } from "../../../../native/testing.ts";
import { htmlToMarkdown } from "../../../../src/documents/conversion/html.ts";
import { pageText } from "../../../../src/documents/conversion/html-charset.ts";
import { parseMarkdown } from "../../../../src/documents/markdown/index.ts";

/** A large page, in characters. */
const LARGE_CHARS = 1_048_576;

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

  test("each line of code stays one, whatever the highlighter puts around it", () => {
    const lines = (open: string, close: string) =>
      ["let a;", "", "let b;"].map((line) => `${open}${line}${close}`).join("");
    const pages = [
      `<pre><code class="language-js">${lines('<span class="token-line">', "<br></span>")}</code></pre>`,
      `<pre class="language-js"><code>${lines('<div class="line">', "\n</div>")}</code></pre>`,
      `<pre class="lang-js">${lines("", "<br>")}</pre>`,
      `<pre class="language-js"><span></span><code>${lines("<span>", "</span>\n")}</code></pre>`,
    ];
    for (const page of pages) {
      expect(htmlToMarkdown(page)).toBe("```js\nlet a;\n\nlet b;\n```");
    }
    expect(htmlToMarkdown("<pre>a ``` b</pre>")).toBe("````\na ``` b\n````");
  });

  test.each([
    ["an element", "Use the <div> element, or a Map<String, List<Integer>>"],
    ["an address", "See <https://example.com/a> and <!-- a --> and <?php"],
    ["an entity", "a &lt; b and &copy; and AT&T"],
    ["a template", "Dear {{name}}, {{{raw}}} and {% if x %} and <% tag %>"],
    ["attributes", "text {: .note } and {#id} and { .class } and {/* a */}"],
    ["a comment", "a %%draft%% of 100%% and 50%%"],
    ["marked text", "==marked== if a==b or a == b"],
    ["deleted text", "~~gone~~"],
    ["the name of a paragraph", "see ^note"],
    ["an admonition", ":::note body"],
    ["a link of a vault", "[[page]] and ![[picture]] and [^1]"],
  ])("a sign of a page that Markdown would take for %s is text", (_, text) => {
    const page = `<title>${Bun.escapeHTML(text)}</title><p>${Bun.escapeHTML(text)}</p>`;
    const { title, content } = parseMarkdown("a.html.md", htmlToMarkdown(page));
    expect([title, content]).toEqual([text, text]);
    expect(shownText(htmlToMarkdown(`<p>${Bun.escapeHTML(text)}</p>`))).toBe(text);
  });

  test("numbers of lines of code are left out", () => {
    const code = "```\nlet a;\nlet b;\n```";
    for (const page of [
      '<pre><span class="linenos">1</span>let a;\n<span class="linenos">2</span>let b;\n</pre>',
      '<table class="highlighttable"><tr><td class="linenos"><div><pre>1\n2</pre></div></td><td class="code"><pre>let a;\nlet b;</pre></td></tr></table>',
      '<table><tr><td class="lntd"><pre><code><span class="lnt">1\n</span><span class="lnt">2\n</span></code></pre></td><td class="lntd"><pre><code>let a;\nlet b;</code></pre></td></tr></table>',
      '<pre><code><table><tr><td class="rouge-gutter gl"><pre class="lineno">1\n2\n</pre></td><td class="rouge-code"><pre>let a;\nlet b;\n</pre></td></tr></table></code></pre>',
    ]) {
      expect(htmlToMarkdown(page)).toBe(code);
    }
    expect(htmlToMarkdown('<pre><span class="ln-cell gutter">let a;</span></pre>')).toContain(
      "let a;",
    );
  });

  test("an equation is its source, once", () => {
    const drawn =
      '<span aria-hidden="true">drawn</span><math><semantics><msup><mi>x</mi><mn>2</mn></msup>';
    const source = '<annotation encoding="application/x-tex">x^2_i</annotation></semantics></math>';
    const markdown = htmlToMarkdown(`<p>Let ${drawn}${source}.</p>`);
    expect(parseMarkdown("a.md", markdown).content).toBe("Let x^2_i.");
  });

  test("a table of texts becomes one in Markdown, and a table that lays out a page does not", () => {
    const head = "<thead><tr><th>Name</th><th>Use</th></tr></thead>";
    const rows =
      "<tr><td>a</td><td><p>one</p><p>two</p></td></tr><tr><td colspan=2><code>x|y</code></td></tr>";
    expect(
      htmlToMarkdown(`<table><caption>All</caption>${head}<tbody>${rows}</tbody></table>`),
    ).toBe("All\n\n| Name | Use |\n| --- | --- |\n| a | one two |\n| `x\\|y` |  |");
    const spans =
      "<tr><th>A</th></tr><tr><td rowspan=2>a</td><td>1</td></tr><tr><td>2</td></tr><tr><td>b</td><td>3</td></tr>";
    expect(htmlToMarkdown(`<table>${spans}</table>`)).toBe(
      "| A |  |\n| --- | --- |\n| a | 1 |\n|  | 2 |\n| b | 3 |",
    );
    const list = "<tr><td>a</td><td><ul><li>one</li><li>two</li></ul></td></tr>";
    expect(htmlToMarkdown(`<table><tr></tr>${head}${list}</table>`)).toBe(
      "| Name | Use |\n| --- | --- |\n| a | * one * two |",
    );
    const layout =
      "<table><tr><td>menu</td><td><pre>x</pre></td></tr><tr><td>a</td><td>b</td></tr></table>";
    expect(htmlToMarkdown(layout)).toBe("menu\n\n```\nx\n```\n\na\n\nb");
  });

  test("headings lose the signs of their anchors, and keep links that are their text", () => {
    const anchors = [
      'Own<a class="headerlink" href="#own">\u00b6</a>',
      '<a href="#own">#</a>Own',
      'Own<a class="hash-link" href="#own">\u200b</a>',
      'Own<a class="anchor" href="#own">Link to this heading</a>',
      'Own<a href="page.html#own">\u00a7</a>',
    ];
    for (const own of anchors) expect(htmlToMarkdown(`<h2>${own}</h2>`)).toBe("## Own");
    expect(htmlToMarkdown('<h2><a class="anchor" href="#own">Own</a></h2>')).toBe("## [Own](#own)");
    const wrapped =
      '<div><h2>Own</h2><a class="sl-anchor-link" href="#own">Section titled Own</a></div>';
    expect(htmlToMarkdown(wrapped)).toBe("## Own");
  });

  test("the title of the head is that of a page without a heading of level 1", () => {
    const head = "<head><title>Install | Site</title></head>";
    expect(htmlToMarkdown(`${head}<body><h2>Steps</h2></body>`)).toBe("# Install\n\n## Steps");
    expect(htmlToMarkdown(`${head}<body><h1>Own</h1></body>`)).toBe("# Own");
    const picture = "<svg><title>Picture</title></svg><p>text</p>";
    expect(htmlToMarkdown(picture)).toBe("text");
  });

  test("powers and keys stay apart, and what nobody sees is left out", () => {
    expect(
      htmlToMarkdown("10<sup>5</sup>, 10<sup>-3</sup>, the 1<sup>st</sup>, H<sub>2</sub>O"),
    ).toBe("10^5, 10^-3, the 1st, H2O");
    expect(htmlToMarkdown("Press <kbd>Ctrl</kbd><kbd>C</kbd>.")).toBe("Press Ctrl C.");
    const hidden =
      '<p hidden>a</p><p style="color: red; display:none">b</p><p style="visibility: hidden">c</p>';
    const shown = '<div role="tabpanel" hidden>tab</div><p hidden="until-found">more</p>';
    expect(htmlToMarkdown(hidden + shown)).toBe("tab\n\nmore");
    const embedded =
      '<img src="data:image/png;base64,AAAA" alt="Logo"> <a href="data:text/plain,x">file</a>';
    expect(htmlToMarkdown(`<p>${embedded}</p>`)).toBe("Logo file");
  });

  test("a page is read in the charset that it declares", () => {
    const page = (head: string, bytes: number[]) =>
      Buffer.concat([Buffer.from(`<html><head>${head}</head><p>`), Buffer.from(bytes)]);
    const read = (head: string, bytes: number[]) => htmlToMarkdown(pageText(page(head, bytes)));
    expect(read('<meta charset="windows-1252">', [0x63, 0x61, 0x66, 0xe9])).toBe("caf\u00e9");
    const old = '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">';
    expect(read(old, [0x8e, 0x52])).toBe("\u5c71");
    expect(read('<meta charset="utf-8">', [0xc3, 0xa9])).toBe("\u00e9");
    expect(read('<meta charset="unicode">', [0xc3, 0xa9])).toBe("\u00e9");
    expect(read('<meta charset="utf_8">', [0xc3, 0xa9])).toBe("\u00e9");
    const wrong = '<meta charset="windows-1252"><p>\u00e9';
    for (const [charset, mark] of [
      ["utf8", "\ufeff"],
      ["utf16le", "\ufeff"],
    ] as const) {
      expect(htmlToMarkdown(pageText(Buffer.from(mark + wrong, charset)))).toBe("\u00e9");
    }
    expect(htmlToMarkdown(pageText(Buffer.from(`\ufeff${wrong}`, "utf16le").swap16()))).toBe(
      "\u00e9",
    );
    expect(() => read("", [0xe9])).toThrow("is not valid UTF-8");
    expect(() => read('<meta charset="klingon">', [0xe9])).toThrow(
      "declares the charset klingon, which is unknown",
    );
  });

  describe("leaves out what stands around the text of a page", () => {
    const text = "# Title\n\nThe text.\n\n## Part\n\nMore of it.";
    const body = "<h1>Title</h1><p>The text.</p><h2>Part</h2><p>More of it.</p>";

    test.each([
      "<nav><h1>menu</h1></nav>",
      "<div role=navigation><h1>menu</h1></div>",
      "<search>find</search>",
      "<div class=navheader><table><tr><td>Prev<td>Next</table></div>",
      "<table class=navigation><tr><td>Next</table>",
      "<ul class=breadcrumb><li>Home</ul>",
      "<div class='top navbar'>menu</div>",
      "<div id=breadcrumbs>Home</div>",
      "<header>logo</header>",
      "<footer>imprint</footer>",
      "<script>run()</script>",
      "<style>p {}</style>",
      "<div aria-hidden=true>icon</div>",
      ...["navigation", "menu", "menubar", "banner", "contentinfo", "search"].map(
        (role) => `<div role=${role}>around</div>`,
      ),
      "<div id=cookie-banner><p>We use cookies.</p><button>Accept</button></div>",
      "<div class='fixed cookieConsent'><h2>Cookies</h2></div>",
      "<aside class='gdpr_notice'>We use cookies.</aside>",
      "<section id=consent-popup>We use cookies.</section>",
      "<div id=onetrust-consent-sdk>We use cookies.</div>",
    ])("%s", (furniture) => {
      expect(htmlToMarkdown(body + furniture)).toBe(text);
      expect(htmlToMarkdown(`<body><div>${furniture}</div>${body}</body>`)).toBe(text);
    });

    test("whatever is outside of the only main element", () => {
      const around = (main: string) => `<div>menu</div>${main}<div>keys</div>`;
      expect(htmlToMarkdown(around(`<main>${body}</main>`))).toBe(text);
      expect(htmlToMarkdown(around(`<div role=main>${body}</div>`))).toBe(text);
      // The title of the page stays, and what only looks like one does not become one.
      const untitled = "<div>menu</div><main><p>text</p><pre># code</pre></main>";
      expect(htmlToMarkdown(`<h1>Title</h1>${untitled}`)).toBe(
        "# Title\n\ntext\n\n```\n# code\n```",
      );
      expect(htmlToMarkdown(`<nav><h1>Menu</h1></nav>${untitled}`)).toBe(
        "text\n\n```\n# code\n```",
      );
      // Nothing of a page stays in the next one.
      expect(htmlToMarkdown("<p>other</p>")).toBe("other");
    });
  });

  test("what belongs to the text of a page is kept where other pages have their furniture", () => {
    const kept = (page: string, ...words: string[]) => {
      const markdown = htmlToMarkdown(page);
      for (const word of words) expect(markdown, page).toContain(word);
    };
    kept("<header><h1>Title</h1><p>Summary</p></header><p>text</p>", "# Title", "Summary", "text");
    kept(
      "<article><header>Summary</header>text<footer>Author</footer></article>",
      "Summary",
      "Author",
    );
    kept("<h2 id=cookie-consent>Consent</h2><p>text</p>", "## Consent");
    kept("<main><section id=cookie-banner><h2>Consent</h2></section>text</main>", "## Consent");
    kept("<div role=main><div id=cookie-banner><h2>Consent</h2></div>text</div>", "## Consent");
    kept("<main><div id=navigation>How to navigate</div>text</main>", "How to navigate");
    kept(
      "<div class='nav-open sidebar'>Remark</div><h2 id=navigation>Menus</h2>",
      "Remark",
      "Menus",
    );
    kept("<section id=cookies><h2>Cookies</h2></section>", "## Cookies");
    kept(`<div class=has-cookie-banner><h1>Title</h1>text</div>`, "# Title", "text");
    kept(`<div class=has-cookie-banner>${"word ".repeat(1_000)}</div>`, "word");
    kept("<h1>Title</h1><main>text</main>", "# Title", "text");
    kept("<main># a</main><main>b</main>", "a", "b");
    kept(`<main>short</main><div>${"word ".repeat(20)}</div>`, "short", "word");
    kept("<aside>note</aside><p>text</p>", "note", "text");
  });

  test("lines of code without a language are no headings", () => {
    const markdown = htmlToMarkdown("<pre># one\n```\n  two\n</pre><p>text</p>");
    expect(markdown).toBe("````\n# one\n```\n  two\n````\n\ntext");
  });

  describe("elements that are nested too deeply are refused before the page is read to its end", () => {
    const deep = (open: string, count = 200_000) => open.repeat(count);
    test.each([
      ["divisions", deep("<div>")],
      ["divisions that are closed", deep("<div>") + deep("</div>")],
      ["lists", deep("<ul><li>")],
      ["marked text", deep("<b>")],
      ["custom elements", deep("<x-y>")],
      ["divisions that do not belong into their table", `<table>${deep("<div>")}`],
      ["divisions in cells, whose ends are ignored", deep("<div><table><td></div>")],
      ["divisions after a page", `${"<p>text</p>".repeat(1_000)}${deep("<div>")}`],
    ])("%s", (_, page) => {
      expect(() => htmlToMarkdown(page)).toThrow("has more than 1024 elements in each other");
    });

    test("but lists and quotes are only indented no further", () => {
      for (const open of ["<ul><li>", "<ol><li>", "<blockquote>"]) {
        const lines = htmlToMarkdown(`${open}x`.repeat(400)).split("\n");
        expect(lines.filter((line) => /x$/.test(line))).toHaveLength(400);
        expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(250);
      }
    });

    test("which are not those that are next to each other, whether or not they are closed", () => {
      for (const piece of ["<li>x", "<p>x", "<tr><td>x", "<br>", "<dt>x<dd>y", "<a name=b>x"]) {
        expect(() => htmlToMarkdown(piece.repeat(5_000))).not.toThrow();
      }
      const nested = htmlToMarkdown(`${deep("<div>", 900)}text${deep("</div>", 900)} more`);
      expect(nested).toBe("text\n\nmore");
    });
  });

  const fill = (piece: string, chars = LARGE_CHARS) =>
    piece.repeat(Math.floor(chars / piece.length) - 32);
  // Elements take far more work than text, so a smaller page shows as much.
  const elements = (piece: string) => fill(piece, LARGE_CHARS / 2);
  // With a time that grows with the square of the size, each of these would take many minutes.
  test.each([
    ["blank lines of code", () => `<pre><code>${fill("\n")}x</code></pre>`],
    ["items of a numbered list", () => `<ol>${elements("<li>x</li>")}</ol>`],
    ["rows of a table", () => `<table>${elements("<tr><td>x<td>y</tr>")}</table>`],
    ["tables", () => elements("<table><tr><td>x<td>y</tr><tr><td>z</tr></table>")],
    ["runs of backticks in code", () => `<pre>${fill("`x")}</pre>`],
    ["lines of code", () => `<pre>${elements("<div>x</div>")}</pre>`],
    ["anchors of a heading", () => `<h2>${elements("<a href='#x' class=anchor>x</a>")}</h2>`],
    ["spaces in code", () => `<p><code> ${fill("x")}</code></p>`],
    ["a long class", () => `<div class="${fill("cookie")}">x</div>`],
    [
      "main elements in each other",
      () => elements(`${"<main>".repeat(100)}x${"</main>".repeat(100)}`),
    ],
    ["empty elements in each other", () => elements("<div>".repeat(100) + "</div>".repeat(100))],
  ])("a large page is converted: %s", (_, page) => {
    expect(() => htmlToMarkdown(page())).not.toThrow();
  });
});

import { describe, expect, test } from "bun:test";
import {
  countTokens,
  type MarkdownChunk,
  markdownChunks,
  parseMarkdown,
  plainChunks,
  plainText,
} from "../../../../src/documents/markdown/index.ts";
import { CHUNK_MAX_CHARS } from "../../../../src/domain/limits.ts";

const numbers = (length: number) => Array.from({ length }, (_, n) => n);
const contentsOf = (text: string) => [...markdownChunks(text)].map(({ content }) => content);

/** Offsets lie in ascending order, sizes within bounds, and everything a reader sees is in a chunk. */
function expectWhole(text: string, chunks: readonly MarkdownChunk[]): void {
  let end = 0;
  for (const chunk of chunks) {
    expect(chunk.start_offset).toBeGreaterThanOrEqual(end);
    expect(text.slice(end, chunk.start_offset).trim()).toBe("");
    expect(chunk.content.length).toBeLessThanOrEqual(CHUNK_MAX_CHARS);
    expect(chunk.token_count).toBe(countTokens(chunk.content));
    end = chunk.end_offset;
  }
  expect(text.slice(end).trim()).toBe("");
}

describe("a table that is longer than a chunk", () => {
  const rows = (prefix = "") =>
    numbers(120).map((n) => `${prefix}| key${n} | the value of row ${n} and more |`);
  const head = "| Name          | Meaning |\n|:--------------|--------:|";
  const repeated = "| Name | Meaning |\n|:---|---:|\n";

  test("repeats its head in each chunk that continues it", () => {
    const text = `# T\n\nintro\n\n${head}\n${rows().join("\n")}\n\nafter\n`;
    const chunks = [...markdownChunks(text)];
    expect(chunks.length).toBeGreaterThan(2);
    expect(chunks[0]?.content).toStartWith("# T\n\nintro");
    const continued = chunks.filter(
      ({ content }) => /\| key/.test(content) && !content.includes(head),
    );
    expect(continued.length).toBeGreaterThan(1);
    for (const { content, start_offset, end_offset } of continued) {
      expect(content).toBe(repeated + text.slice(start_offset, end_offset));
    }
    expectWhole(text, chunks);
    for (const row of rows()) {
      expect(chunks.filter(({ content }) => content.includes(row))).toHaveLength(1);
    }
    // Read alone, each is a table.
    const { content = "" } = continued.at(-1) ?? {};
    expect(plainText(content)).toStartWith("Name\nMeaning\nkey");
  });

  test("repeats it in quotes and lists, as it is written there", () => {
    for (const [first, others] of [
      ["> ", "> "],
      ["- ", "  "],
    ]) {
      const lines = [...head.split("\n"), ...rows()].map(
        (line, n) => (n === 0 ? first : others) + line,
      );
      const [, next = ""] = contentsOf(lines.join("\n"));
      expect(next).toStartWith(`${first}| Name | Meaning |\n${others}|:---|---:|\n${others}| key`);
    }
  });

  test("repeats no head that would fill the chunk", () => {
    const wide = `| ${"column ".repeat(200)}|\n|---|`;
    const [, ...others] = contentsOf(`${wide}\n${rows().join("\n")}`);
    expect(others.length).toBeGreaterThan(1);
    for (const content of others) expect(content).toStartWith("| key");
  });

  test("is not repeated where it fits into a chunk", () => {
    const text = `${"word ".repeat(200)}\n\n${head}\n${rows().slice(0, 20).join("\n")}`;
    const [, table, ...others] = contentsOf(text);
    expect([table, others]).toEqual([text.slice(text.indexOf("|")), []]);
  });
});

describe("a long line of code", () => {
  const isWord = /[\p{L}\p{N}_]/u;
  const lines: Record<string, string> = {
    "with spaces": numbers(900)
      .map((n) => `word${n}`)
      .join(" "),
    minified: numbers(900)
      .map((n) => `f${n}(a${n},b.c${n});`)
      .join(""),
    "with a space at its start": `let ${numbers(900)
      .map((n) => `name${n}`)
      .join("=")}`,
  };
  test.each(Object.entries(lines))("is cut between words: %s", (_, line) => {
    for (const text of [
      `\`\`\`js\n${line}\n\`\`\``,
      `<pre>\n${line}\n</pre>`,
      `    ${line}`,
      line,
    ]) {
      const chunks = [...markdownChunks(text)];
      expect(chunks.length).toBeGreaterThan(2);
      for (const { end_offset: end } of chunks.slice(0, -1)) {
        expect(isWord.test(text.charAt(end - 1)) && isWord.test(text.charAt(end))).toBeFalse();
      }
      expectWhole(text, chunks);
      // Its fence alone says nothing.
      expect(chunks[0]?.content.length).toBeGreaterThan(CHUNK_MAX_CHARS / 2 - 1);
    }
  });

  test("leaves the lines around it whole, and is cut anywhere without an end of a word", () => {
    const short = numbers(30).map((n) => `short line ${n}`);
    const text = `\`\`\`\n${short.join("\n")}\n${"x".repeat(5_000)}\n${short.join("\n")}\n\`\`\``;
    const contents = contentsOf(text);
    for (const line of short) expect(contents.some((c) => c.includes(line))).toBeTrue();
    expectWhole(text, [...markdownChunks(text)]);
  });
});

describe("a file in an address", () => {
  const base64 = Buffer.alloc(150_000, "picture").toString("base64");
  const png = `data:image/png;base64,${base64}`;
  const svg = `data:image/svg+xml;charset=utf-8,${"%3Csvg%20a='b'%3E".repeat(400)}`;
  const places: Record<string, (address: string) => string> = {
    image: (address) => `Before ![alt text](${address}) after.`,
    "image with a title": (address) => `Before ![alt text](${address} "title") after.`,
    "angle brackets": (address) => `Before ![alt text](<${address}>) after.`,
    heading: (address) => `# Before ![alt text](${address}) after.`,
    HTML: (address) => `<p>Before <img alt="x" src="${address}"> alt text after.</p>`,
    "HTML in a paragraph": (address) => `Before alt text <img src="${address}"/> after.`,
    definition: (address) => `Before ![alt text][a] after.\n\n[a]: ${address}\n[b]: /next`,
    "definition in angle brackets": (address) => `Before alt text after.\n\n[a]: <${address}>`,
    code: (address) => `Before\n\n\`\`\`css\na { alt text url(${address}) }\n\`\`\`\n\nafter.`,
    table: (address) => `| Before |\n|---|\n| ![alt text](${address}) |\n\nafter.`,
    "a list": (address) => `- Before\n- ![alt text](${address})\n\nafter.`,
  };

  for (const [place, write] of Object.entries(places)) {
    test(`is neither text nor chunks: ${place}`, () => {
      for (const address of [png, svg]) {
        const text = `${write(address)}\n\nThe end.\n`;
        const { content, headings } = parseMarkdown("a.md", text);
        const all = [...headings, content].join(" ");
        for (const words of ["Before", "alt text", "after", "The end."])
          expect(all).toContain(words);
        expect(all.length).toBeLessThan(200);
        const chunks = [...markdownChunks(text)];
        expect(chunks.length).toBeWithin(1, 3);
        const embedded = chunks.map((chunk) => plainText(chunk.content)).join(" ");
        for (const words of ["Before", "alt text", "after", "The end."])
          expect(embedded).toContain(words);
        expect(embedded.length).toBeLessThan(200);
        expect(text.slice(chunks[0]?.start_offset)).toStartWith(text.slice(0, 5));
        expect(chunks.at(-1)?.end_offset).toBe(text.trimEnd().length);
      }
    });
  }

  test("moves no offset of what follows it, and headings keep theirs", () => {
    const section = (n: number) => `## S${n}\n\n![a](${png})\n\n${"some more words. ".repeat(60)}`;
    const text = numbers(5).map(section).join("\n\n");
    const chunks = [...markdownChunks(text)];
    expect(chunks.map(({ metadata }) => metadata.headings)).toEqual(
      numbers(5).map((n) => [`S${n}`]),
    );
    for (const { content, start_offset, end_offset } of chunks) {
      expect(content).toBe(text.slice(start_offset, end_offset).replace(png, "data:"));
    }
  });

  test("is left out of plain text, and a short one stays", () => {
    expect([...plainChunks(`a ${png} b`)].map(({ content }) => content)).toEqual(["a data: b"]);
    const short = "See `data:text/plain,hello` for an example.";
    expect(contentsOf(short)).toEqual([short]);
  });
});

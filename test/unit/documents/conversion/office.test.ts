import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { storedText as converted } from "../../../../src/documents/conversion/formats.ts";
import { docxFile, paragraph, pdfFile } from "./office-files.ts";

/** Real documents, which the tests of the reader have. */
const SAMPLES = join(dirname(require.resolve("mammoth/package.json")), "test", "test-data");
const sample = (name: string) => new Uint8Array(readFileSync(join(SAMPLES, name)));
const storedText = async (name: string, bytes: Uint8Array) => (await converted(name, bytes)).text;

test("reading a PDF leaves what programs know of the machine", async () => {
  await storedText("a.pdf", pdfFile({ pages: [["A page."]] }));
  expect(availableParallelism()).toBeGreaterThan(0);
});

describe("a PDF", () => {
  const pages = [
    ["Annual report", "", "", "A sentence that goes over two lines of a para-", "graph."],
    ["# not a heading, *not* strong"],
  ];

  test("becomes Markdown with a heading for each page and the title of its properties", async () => {
    const bytes = pdfFile({ title: 'The: "Report"', pages });
    const text = await storedText("a/report.pdf", bytes);
    expect(text).toBe(
      '---\ntitle: "The: \\"Report\\""\n---\n\n# Page 1\n\nAnnual report\n\n' +
        "A sentence that goes over two lines of a paragraph.\n\n# Page 2\n\n" +
        "\\# not a heading, \\*not\\* strong\n",
    );
    expect(await storedText("a/report.pdf", bytes)).toBe(text);
  });

  test("without a title has the name of its file", async () => {
    const text = await storedText("a/My report.PDF", pdfFile({ pages }));
    expect(text).toStartWith('---\ntitle: "My report"\n---\n');
  });

  test("has the letters of Japanese fonts that it does not contain", async () => {
    const of = "/Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3";
    const system = "<< /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >>";
    const bytes = pdfFile({
      pages: [],
      instructions: ["BT /F1 12 Tf 72 720 Td <65E5672C8A9E> Tj ET"],
      font: `/Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /UniJIS-UCS2-H /DescendantFonts [<< /Type /Font ${of} /CIDSystemInfo ${system} >>]`,
    });
    expect(await storedText("a.pdf", bytes)).toEndWith("# Page 1\n\n日本語\n");
  });

  const itself = ["BT /F1 9 Tf (x) Tj ET /X Do"];
  test.each([
    ["values in each other", pdfFile({ pages, title: `)/Title ${"[".repeat(200_000)}(` })],
    ["a form that shows itself", pdfFile({ pages, instructions: ["/X Do"], forms: itself })],
  ])("with %s without end has its text", async (_, bytes) => {
    expect(await storedText("a.pdf", bytes)).toContain("Annual report");
  });

  const handler = `/Filter /Standard /V 1 /R 2 /P -4 /O <${"00".repeat(32)}> /U <${"11".repeat(32)}>`;
  test.each([
    ["is encrypted", pdfFile({ pages, trailer: `/Encrypt << ${handler} >> /ID [<00> <00>]` })],
    ["has no text: its pages may have been scanned", pdfFile({ pages: [[], []] })],
    ["cannot be read as PDF", new TextEncoder().encode("%PDF-1.4\nnothing of one")],
    ["cannot be read as PDF", new Uint8Array()],
    ["has more than 5000 pages", pdfFile({ pages: Array(5_001).fill([]) })],
  ])("that %s is refused", async (reason, bytes) => {
    await expect(storedText("a.pdf", bytes)).rejects.toThrow(reason);
  });
});

describe("a Word document", () => {
  const body =
    paragraph("Steps", "Heading1") + paragraph("First &lt;b&gt; # one") + paragraph("Two");

  test("has headings of level 1 and 2 where Word has a title and a subtitle", async () => {
    const titled = paragraph("Plan", "Title") + paragraph("For May", "Subtitle") + body;
    const text = await storedText("a.docx", docxFile(titled));
    expect(text).toStartWith("# Plan\n\n## For May\n\n# Steps\n\n");
  });

  test("becomes Markdown with its headings and the title of its properties", async () => {
    const text = await storedText("a.docx", docxFile(body, { title: "R&amp;D: plan" }));
    expect(text).toStartWith('---\ntitle: "R&D: plan"\n---\n\n');
    expect(text).toContain("First \\<b> # one\n\nTwo\n");
    expect(await storedText("a.docx", docxFile(paragraph("Only text")))).toBe("Only text");
  });

  test.each([
    ["single-paragraph.docx", "Walking on imported air"],
    ["embedded-style-map.docx", "# Walking on imported air"],
    ["simple-list.docx", "*   Apple\n*   Banana"],
    [
      "tables.docx",
      "Above\n\n| Top left | Top right |\n| --- | --- |\n| Bottom left | Bottom right |\n\nBelow",
    ],
    ["text-box.docx", "Datum plane"],
    ["strict-format.docx", "Test"],
  ])("that Word has written is read: %s", async (name, expected) => {
    expect(await storedText(name, sample(name))).toBe(expected);
  });

  test.each([
    ["is encrypted", Buffer.from("d0cf11e0a1b11ae1", "hex")],
    ["has no text", sample("empty.docx")],
    ["has no text", sample("tiny-picture.docx")],
    ["cannot be read as DOCX", new TextEncoder().encode("PK\x03\x04 and no more")],
    ["cannot be read as DOCX", new Uint8Array()],
    ["cannot be read as DOCX", docxFile("<w:p><w:ins>".repeat(20_000))],
  ])("that %s is refused", async (reason, bytes) => {
    await expect(storedText("a.docx", new Uint8Array(bytes))).rejects.toThrow(reason);
  });
});

import { describe, expect, test } from "bun:test";
import { usefulTitle } from "../../../../src/documents/conversion/converted.ts";
import { storedText } from "../../../../src/documents/conversion/formats.ts";
import { pdfFile } from "./office-files.ts";

type Contents = Parameters<typeof pdfFile>[0];

const read = async (contents: Contents) => await storedText("a/manual.pdf", pdfFile(contents));

/** The paragraphs of each page. */
async function pagesOf(contents: Contents): Promise<string[][]> {
  const { text } = await read(contents);
  const pages = text.trim().split(/^# Page \d+$/m);
  return pages.slice(1).map((page) =>
    page
      .split("\n\n")
      .map((each) => each.trim())
      .filter(Boolean),
  );
}

/** Shows texts at heights in points from the bottom, with letters of this size. */
const shown = (...texts: [y: number, text: string, size?: number][]) =>
  texts.map(([y, text, size = 10]) => `BT /F1 ${size} Tf 72 ${y} Td (${text}) Tj ET`).join("\n");

const WORDS = ["one", "two", "three", "four", "five", "six", "seven"];

describe("of a PDF", () => {
  test.each([
    [
      "heads and feet with the number of the page",
      (n: number) => [
        [760, `Manual ${n + 11}`],
        [30, `Page ${n + 1} of 7`],
      ],
    ],
    [
      "heads of left and of right pages",
      (n: number) => [[760, n % 2 === 0 ? "Manual" : `Part B | ${n}`]],
    ],
    [
      "heads of chapters with the number of the page",
      (n: number) => [[760, `Chapter ${WORDS[n]} ${n + 1}`]],
    ],
    ["large numbers", (n: number) => [[30, `${n + 1}`, 20]]],
    ["numbers in other digits", (n: number) => [[30, n < 2 ? "ivx"[n] : `- ${n - 1} -`]]],
    [
      "heads of all pages but the first, a little higher or lower",
      (n: number) => (n === 0 ? [] : [[758 + (n % 3), "Manual"]]),
    ],
  ])("%s are left out", async (_, margins) => {
    const instructions = WORDS.map((word, n) =>
      shown([500, `Some text ${word}`], ...(margins(n) as [number, string, number?][])),
    );
    expect(await pagesOf({ pages: [], instructions })).toEqual(
      WORDS.map((word) => [`Some text ${word}`]),
    );
  });

  test.each([
    ["the same text in the middle of pages", () => [[400, "The same"]]],
    ["the same text at different heights", (n: number) => [[700 + 10 * n, "The same"]]],
    ["a text of some pages", (n: number) => (n < 3 ? [[760, "The same"]] : [])],
    ["large headings with numbers", (n: number) => [[720, `Chapter ${n + 1}`, 18]]],
    [
      "captions with numbers that are not those of pages",
      (n: number) => [[100, `Figure ${n * n}`]],
    ],
    [
      "captions that begin with a number each",
      (n: number) => [[100, `Figure ${n + 1}: ${WORDS[n]}`]],
    ],
  ])("%s stays", async (_, others) => {
    const instructions = WORDS.map((word, n) =>
      shown([500, `Some text ${word}`], ...(others(n) as [number, string, number?][])),
    );
    const expected = WORDS.map((word, n) => [
      `Some text ${word}`,
      ...others(n).map(([, text]) => text),
    ]);
    expect(await pagesOf({ pages: [], instructions })).toEqual(expected as string[][]);
  });

  test("pages that are turned have the same lines, heads and feet as others", async () => {
    const turned = (...texts: [x: number, y: number, text: string][]) =>
      texts.map(([x, y, text]) => `BT /F1 10 Tf 0 1 -1 0 ${y} ${x} Tm (${text}) Tj ET`).join("\n");
    const instructions = WORDS.map((word) =>
      turned([72, 30, "Manual"], [72, 300, "Some"], [120, 300, "text"], [72, 312, word]),
    );
    expect(await pagesOf({ pages: [], instructions, rotate: 90 })).toEqual(
      WORDS.map((word) => [`Some text ${word}`]),
    );
  });

  test("pages that are all alike keep their text", async () => {
    expect(await pagesOf({ pages: Array(4).fill(["Label"]) })).toEqual(Array(4).fill(["Label"]));
  });

  test.each([
    [
      "a word that is written with it",
      "A well-",
      "known word, as well-known",
      "A well-known word, as well-known",
    ],
    [
      "a longer one",
      "A state-of-",
      "the-art, see State-of-the-art",
      "A state-of-the-art, see State-of-the-art",
    ],
    ["a name", "By Jean-", "Paul", "By Jean-Paul"],
    [
      "a word with a part of the next one",
      "The pre-",
      "and postwar years",
      "The pre- and postwar years",
    ],
  ])("a hyphen at the end of a line stays in %s", async (_, first, second, whole) => {
    expect(await pagesOf({ pages: [[first, second]] })).toEqual([[whole]]);
  });

  test("a word that is divided at the end of a line is joined where no page has it with a hyphen", async () => {
    const pages = [["A well-", "known divi-", "sion"], ["not a well known-one"]];
    expect((await pagesOf({ pages }))[0]).toEqual(["A wellknown division"]);
  });

  const heading = shown(
    [760, "small"],
    [700, "A large", 20],
    [680, "title", 20],
    [600, "Text ".repeat(9)],
  );
  test.each([
    ["its properties", "Report", [heading], "Report"],
    ["its first large lines", "untitled", [heading], "A large title"],
    [
      "its first large lines rather than a stamp at the edge",
      "untitled",
      [`BT /F1 30 Tf 0 1 -1 0 40 200 Tm (A stamp) Tj ET\n${heading}`],
      "A large title",
    ],
    ["its file if no line is large", "Microsoft Word - x", [shown([600, "Text"])], "manual"],
  ])("the title is that of %s", async (_, title, instructions, expected) => {
    const { text } = await read({ pages: [], title: title.replace(/[()]/g, "\\$&"), instructions });
    expect(text).toStartWith(`---\ntitle: ${JSON.stringify(expected)}\n---\n`);
  });

  test.each([
    ...["", " - ", "untitled", "Untitled-2", "(anonymous)", "Microsoft Word - Plan", "report.docx"],
    ...["C:\\Users\\Ada\\Final report.PDF", "Document1", "PowerPoint Presentation", "unknown"],
  ])("a title that names nothing is none: %j", (title) => {
    expect(usefulTitle(title)).toBeUndefined();
  });

  test.each([
    "1984",
    "Node.js",
    "Anonymous functions",
    "Document design",
    "Microsoft Word for authors",
  ])("a title with a similar word is one: %j", (title) => expect(usefulTitle(title)).toBe(title));

  test("the values of forms and the texts of annotations are text", async () => {
    const annotation = (entries: string) => `<< /Type /Annot /Rect [0 0 90 20] ${entries} >>`;
    const field = (entries: string) => annotation(`/Subtype /Widget ${entries}`);
    const states = "/AP << /N << /Yes << >> /Off << >> >> >>";
    const annotations = [
      field("/FT /Tx /T (name) /TU (Full name) /V (Ada Lovelace)"),
      field("/FT /Tx /T (city) /V (London)"),
      field("/FT /Tx /T (empty) /TU (Empty)"),
      field("/FT /Tx /T (secret) /Ff 8192 /V (password)"),
      field("/FT /Tx /T (hidden) /F 2 /V (invisible)"),
      field("/FT /Ch /T (size) /TU (Size) /Opt [[(s) (Small)] [(l) (Large)]] /V (l)"),
      field(`/FT /Btn /T (agree) /TU (I agree) /V /Yes /AS /Yes ${states}`),
      field(`/FT /Btn /T (refuse) /TU (I refuse) /V /Off /AS /Off ${states}`),
      annotation("/Subtype /Text /Contents (A note)"),
      annotation("/Subtype /Highlight /QuadPoints [0 20 90 20 0 0 90 0] /Contents (A remark)"),
      annotation("/Subtype /Link /Contents (A link)"),
    ];
    const texts = [
      ...["A note", "A remark"],
      ...["Full name: Ada Lovelace", "London", "Size: Large", "I agree: Yes"],
    ];
    expect(await pagesOf({ pages: [["Text"]], annotations })).toEqual([["Text", ...texts]]);
    expect(await pagesOf({ pages: [[]], annotations })).toEqual([texts]);
  });

  // As they stand on the page, from the left.
  test.each([
    ["Arabic with a ligature of two letters", "ABC", ["م", "لا", "س"], "سلام"],
    ["Arabic with a ligature that is one character", "ABC", ["م", "\ufefb", "س"], "سلام"],
    ["Arabic without a ligature", "ABCDBA", ["ا", "ل", "ب", "ت"], "التبلا"],
    ["Arabic with the forms of letters in words", "ABC", ["\ufeb0", "\ufe92", "\ufea7"], "خبز"],
    ["Hebrew with a letter of two characters", "AB", ["ב", "\u05d0\u05bc"], "\u05d0\u05bcב"],
    ["Hebrew with a letter that is one character", "AB", ["ב", "\ufb30"], "\u05d0\u05bcב"],
  ])("%s is in the order in which it is read", async (_, codes, letters, expected) => {
    const texts = Object.fromEntries(letters.map((letter, i) => [(65 + i).toString(16), letter]));
    expect(await pagesOf({ pages: [[codes]], texts })).toEqual([[expected]]);
  });

  test("pages without text are named", async () => {
    const { leftOut } = await read({ pages: [["Text"], [], ["Text"], [], []] });
    expect(leftOut).toEqual(["has pages without text, which may have been scanned: 2, 4-5"]);
  });
});

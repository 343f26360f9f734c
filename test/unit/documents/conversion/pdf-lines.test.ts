import { expect, test } from "bun:test";
import { linesOf, paragraphsOf } from "../../../../src/documents/conversion/pdf-lines.ts";

interface Place {
  readonly x?: number;
  readonly y?: number;
  readonly height?: number;
  readonly font?: string;
  readonly hasEOL?: boolean;
  /** The direction of its line: 1 up the page, -1 down. */
  readonly turn?: 1 | -1;
}

/** A piece of text whose letters are as wide as half of their height. */
function piece(str: string, place: Place) {
  const { x = 0, y = 0, height = 10, font = "body", hasEOL = false, turn } = place;
  const matrix =
    turn === undefined ? [height, 0, 0, height] : [0, turn * height, -turn * height, 0];
  const shown = {
    transform: [...matrix, x, y],
    width: (str.length * height) / 2,
    height,
  };
  return { str, fontName: font, hasEOL, ...shown };
}

/** Pieces that follow each other without a gap. */
function fromLeft(...texts: string[]) {
  let x = 0;
  return texts.map((text) => {
    const placed = piece(text, { x });
    x += placed.width;
    return placed;
  });
}

test.each([
  ["pieces that touch are one word", [piece("read", {}), piece("able", { x: 20 })], ["readable"]],
  ["pieces with a gap are two", [piece("one", {}), piece("two", { x: 18 })], ["one two"]],
  ["an entry and its page are two", [piece("9", { x: 200 }), piece("Index", {})], ["9 Index"]],
  ["a raised piece is on its line", [piece("m", {}), piece("2", { x: 5, y: 4 })], ["m2"]],
  [
    "lines of one paragraph are joined",
    [piece("a divi-", { y: 12 }), piece("ded word", {}), piece("and more", { y: -12 })],
    ["a divided word and more"],
  ],
  ["lines that are far apart are not", [piece("one", { y: 30 }), piece("two", {})], ["one", "two"]],
  [
    "larger letters are a heading",
    [piece("Heading", { y: 14, height: 12 }), piece("text", {})],
    ["Heading", "text"],
  ],
  [
    "letters of another font are a heading",
    [piece("Heading", { y: 12, font: "bold" }), piece("text", {})],
    ["Heading", "text"],
  ],
  [
    "a line with a word in another font is text",
    [piece("a", { y: 12 }), piece("b", {}), piece("c", { x: 8, font: "bold" })],
    ["a b c"],
  ],
  [
    "items of a list are apart",
    [piece("include:", { y: 12 }), piece("• one", { y: 0 }), piece("• two", { y: -12 })],
    ["include:", "• one", "• two"],
  ],
  [
    "lines of Chinese and Japanese have no space between them",
    [piece("多", { y: 12 }), piece("くの", {}), piece("Debian", { y: -12 })],
    ["多くの Debian"],
  ],
  [
    "letters of Arabic from the left are words from the right",
    [...fromLeft("م", "لا", "س", " ", "ا", "ن", "أ"), { ...piece(" ", { x: 5 }), width: 0 }],
    ["أنا سلام"],
  ],
  [
    "numbers and other words in Arabic stay as they are",
    fromLeft("سلام", " ", "2", "5", ".", "5", " ", "pdf", " ", "a", " ", "أنا"),
    ["أنا 25.5 pdf a سلام"],
  ],
  [
    "words of Hebrew in another text are in order",
    fromLeft("He", " said ", "ם", "ו", "ל", "ש", " ", "א", "."),
    ["He said א שלום."],
  ],
  [
    "columns of Arabic are read from the right",
    [piece("الأول", { x: 200 }), piece("الثاني", { x: 0 })],
    ["الأول الثاني"],
  ],
  [
    "a text up the page is not of the lines that it crosses",
    [
      piece("arXiv:", { x: 20, y: 5, turn: 1 }),
      piece("2401", { x: 20, y: 38, turn: 1 }),
      piece("Title", { x: 30, y: 5 }),
    ],
    ["arXiv: 2401", "Title"],
  ],
  [
    "lines down the page are one text",
    [piece("one", { x: 50, turn: -1 }), piece("two", { x: 38, turn: -1 })],
    ["one two"],
  ],
  ["leaders are short", [piece("1 Start . . . . . . . . . . 7", {})], ["1 Start … 7"]],
])("%s", (_, pieces, paragraphs) => {
  expect(paragraphsOf(linesOf(pieces), new Set())).toEqual(paragraphs);
});

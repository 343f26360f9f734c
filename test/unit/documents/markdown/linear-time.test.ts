import { expect, test } from "bun:test";
import { plainText } from "../../../../native/testing.ts";
import { markdownChunks } from "../../../../src/documents/markdown/index.ts";
import { runSegmentTask } from "../../../../src/index/text/segment-task.ts";
import { countScanned } from "./scanned.ts";

/** Twice a piece of a long paragraph, so that the larger text differs from it by its number of pieces only. */
const SMALL_CHARS = 4_096;
const TIMES_LARGER = 4;
/** Four times the text needs four times the work in linear time, and 16 times in quadratic time. */
const MAX_RATIO = 5;
/**
 * Patterns that may be given a whole text: ends of lines, the characters of a paragraph without markup, and the beginning of
 * an address with a file in it, which is found or not within some hundred characters.
 */
const SIMPLE_PATTERNS = [
  ...["\\r\\n?", "\\r\\n?|\\n", "[^\\p{L}\\p{N} .,;'\"()?\\n-]"],
  '\\bdata:[\\w.+/;=-]{0,128}(?:;base64,[\\w+/=%-]{256,}|,[^\\s"()<>`]{256,})',
];
/** Quadratic work on so many characters does not end within the time of a test, on any machine. */
const NATIVE_CHARS = 1_048_576;
/** What native code looks for the end of, and a line without one. */
const NATIVE_UNITS = [
  "x",
  "`",
  "<",
  "[",
  "[a](",
  "{#",
  "{{<",
  "<!-",
  "{{ a",
  "{{   ",
  "%%",
  " %%",
  "==",
  " ^a",
];

/** Each is repeated into a file; most make a single line of it. */
const UNITS = [
  ...["x", "word ", "1", "aB", "AB", "A. ", " ", "_"],
  ...["漢", "😀", "e\u0301", "\u00a0", "\u200d"],
  ...["#", "`", "~", "[", "<", "- ", "* ", "![", "[a](", "{#", "{%", "{{<", "[[", "<!-", "{/*\n"],
  ...[
    "%%",
    "{{",
    "==",
    "==a",
    " ^a",
    "{:",
    "<%",
    "a %%",
    "data:",
    "data:a,",
    "!!! a\n",
    '=== "a"\n',
    "    !!! a\n",
  ],
  ...["a\n", " \n", "\n \t", "\r", "a\r\n\r\n", "# h\n", "a\n=\n", "```\n", "---\n", "---\na: ["],
];

const repeated = (unit: string, chars: number) =>
  unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars);

/** What a thread does to index a file, which begins with parsing it. */
const indexed = (content: string) =>
  runSegmentTask({ kind: "build", rows: [{ id: "version", path: "a.md", content }] });

const STEPS: Record<string, (text: string) => unknown> = {
  chunking: (text: string) => [...markdownChunks(text)],
  indexing: indexed,
};

for (const [name, step] of Object.entries(STEPS)) {
  test(`${name} a large Markdown file takes work linear in its size`, () => {
    for (const unit of UNITS) {
      const small = countScanned(() => step(repeated(unit, SMALL_CHARS)));
      const large = countScanned(() => step(repeated(unit, SMALL_CHARS * TIMES_LARGER)));
      const ratio = large.characters / small.characters;
      expect(small.characters).toBeGreaterThan(SMALL_CHARS / 2);
      expect(ratio, JSON.stringify(unit)).toBeLessThan(MAX_RATIO);
      // What a pattern does within one match is not counted. These look at each character once.
      const patterns = large.wholeText.filter((pattern) => !pattern.startsWith("^"));
      expect(SIMPLE_PATTERNS).toEqual(expect.arrayContaining(patterns));
    }
  });
}

test("native code reads a large Markdown file to its end, whatever it is made of", () => {
  for (const unit of NATIVE_UNITS) {
    expect(plainText(repeated(unit, NATIVE_CHARS)).length).toBeLessThanOrEqual(NATIVE_CHARS);
  }
});

import { expect, test } from "bun:test";
import { plainText } from "../../../native/testing.ts";
import { runSegmentTask } from "../../../src/indexing/text/segment-task.ts";
import { markdownChunks, parseMarkdown } from "../../../src/markdown/index.ts";

/** Enough that even the fastest search for a character, from each character on, shows its square. */
const SMALL_CHARS = 65_536;
const TIMES_LARGER = 4;
/** Four times the text takes four times as long in linear time, and 16 times in quadratic time. */
const MAX_RATIO = 8;
/** Times below this are mostly noise. */
const NOISE_MS = 25;
/** Garbage of earlier files may be collected during a measurement. */
const ATTEMPTS = 4;

/** Each is repeated into a file; most make a single line of it. */
const UNITS = [
  ...["x", "word ", "1", "aB", "AB", "A. ", " ", "_"],
  ...["漢", "😀", "e\u0301", "\u00a0", "\u200d"],
  ...["#", "`", "~", "[", "<", "- ", "* ", "![", "[a](", "{#", "{%", "{{<", "[[", "<!-"],
  ...["a\n", " \n", "\n \t", "\r", "a\r\n\r\n", "# h\n", "a\n=\n", "```\n", "---\n", "---\na: ["],
];

/** Milliseconds of processor time of this process; other processes do not count. */
function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1_000;
}

/** What a thread does to index a file. */
const indexed = (content: string) =>
  runSegmentTask({ kind: "build", rows: [{ id: "version", path: "a.md", content }] });

const STEPS: Record<string, (text: string) => unknown> = {
  parsing: (text) => parseMarkdown("a.md", text),
  chunking: (text: string) => [...markdownChunks(text)],
  indexing: indexed,
  showing: plainText,
};

for (const [name, step] of Object.entries(STEPS)) {
  test(`${name} a large Markdown file takes work linear in its size`, () => {
    for (const unit of UNITS) {
      const text = (chars: number) => unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars);
      let ratio = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < ATTEMPTS && ratio >= MAX_RATIO; attempt++) {
        const small = cpuOf(() => step(text(SMALL_CHARS)));
        const large = cpuOf(() => step(text(SMALL_CHARS * TIMES_LARGER)));
        ratio = large / Math.max(small, NOISE_MS);
      }
      expect(ratio, JSON.stringify(unit)).toBeLessThan(MAX_RATIO);
    }
  });
}

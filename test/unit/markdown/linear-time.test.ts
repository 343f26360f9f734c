import { expect, setDefaultTimeout, test } from "bun:test";
import { TextIndex } from "../../../src/indexing/text/text-index.ts";
import { chunkMarkdown, parseMarkdown } from "../../../src/markdown/index.ts";

setDefaultTimeout(120_000);

const SMALL_CHARS = 262_144;
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
  ...["#", "`", "~", "[", "<", "- ", "* ", "![", "[a](", "{#"],
  ...["a\n", " \n", "\n \t", "\r", "a\r\n\r\n", "# h\n", "a\n=\n", "```\n", "---\n", "---\na: ["],
];

/** Milliseconds of processor time of this process; other processes do not count. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return process.cpuUsage(before).user / 1_000;
}

async function indexed(text: string): Promise<void> {
  const index = new TextIndex(() => {});
  index.openProject("project");
  const rows = [{ file_version_id: "version", path: "a.md", content: text }];
  await index.add("project", ["version"], {
    async *chunks() {},
    async *documents() {
      yield rows;
    },
  });
}

const STEPS: Record<string, (text: string) => unknown> = {
  parsing: (text) => parseMarkdown("a.md", text),
  chunking: chunkMarkdown,
  indexing: indexed,
};

for (const [name, step] of Object.entries(STEPS)) {
  test(`${name} a Markdown file of a megabyte takes time linear in its size`, async () => {
    for (const unit of UNITS) {
      const text = (chars: number) => unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars);
      let ratio = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < ATTEMPTS && ratio >= MAX_RATIO; attempt++) {
        const small = await cpuOf(() => step(text(SMALL_CHARS)));
        const large = await cpuOf(() => step(text(SMALL_CHARS * TIMES_LARGER)));
        ratio = large / Math.max(small, NOISE_MS);
      }
      expect(ratio, JSON.stringify(unit)).toBeLessThan(MAX_RATIO);
    }
  });
}

import { expect, test } from "bun:test";
import { textVersion } from "../../../../src/content/import/text-file.ts";

/** Many blocks, and few chunks. */
const BLOCKS = 10_000;
const TURNS_MIN = 10;

test("other work goes on while the title of a large file is looked for", async () => {
  // A reader sees nothing of definitions, so that they make no chunks.
  const content = `${"[label]: /address\n\n".repeat(BLOCKS)}## The only heading\n`;
  let turns = 0;
  let isReading = true;
  const count = () => {
    turns++;
    if (isReading) setImmediate(count);
  };
  setImmediate(count);
  const { title } = await textVersion({ path: "large.md", content, isMarkdown: true });
  isReading = false;
  expect(title).toBe("The only heading");
  expect(turns).toBeGreaterThan(TURNS_MIN);
});

import { expect, test } from "bun:test";
import { SegmentThreads } from "../../../../src/indexing/text/segment-threads.ts";

test("a batch that cannot be built is refused, and the next one is built", async () => {
  const threads = new SegmentThreads(1);
  const rowOf = (content: string) => ({ id: "1", path: "a.md", content });
  const broken = [rowOf(null as unknown as string)];
  await expect(threads.run({ kind: "build", rows: broken })).rejects.toThrow(
    "cannot make a text segment",
  );
  const rows = [rowOf("A wick and oil.")];
  expect((await threads.run({ kind: "build", rows })).buffer.byteLength).toBeGreaterThan(0);
});

import { expect, test } from "bun:test";
import { buildFromRows } from "../../../../src/indexing/text/build-from-rows.ts";
import { BuildThreads } from "../../../../src/indexing/text/build-threads.ts";

const rowsOf = (batch: number) =>
  Array.from({ length: 5 }, (_, i) => ({
    id: `version-${batch}-${i}`,
    path: `guide/${batch}/${i}.md`,
    content: `---\ntitle: Lantern ${i}\n---\n\nA wick and oil of batch ${batch}.\n`,
  }));

test("a segment that another thread builds has the same bytes", async () => {
  const threads = new BuildThreads();
  const batches = Array.from({ length: 6 }, (_, batch) => rowsOf(batch));
  const built = await Promise.all(batches.map((rows) => threads.build(rows)));
  for (const [i, rows] of batches.entries()) {
    const own = buildFromRows(rows);
    expect(Buffer.from(built[i] as SharedArrayBuffer).equals(Buffer.from(own))).toBe(true);
  }
});

test("a batch that cannot be built is refused, and the next one is built", async () => {
  const threads = new BuildThreads();
  const broken = [{ id: "1", path: "a.md", content: null as unknown as string }];
  expect(threads.build(broken)).rejects.toThrow("cannot build a text segment");
  expect((await threads.build(rowsOf(0))).byteLength).toBeGreaterThan(0);
});

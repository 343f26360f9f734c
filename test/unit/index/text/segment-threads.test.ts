import { expect, test } from "bun:test";
import { runSegmentTask, type SegmentTask } from "../../../../src/index/text/segment-task.ts";
import { SegmentThreads } from "../../../../src/index/text/segment-threads.ts";
import { sectionBytes } from "../../../../support/segment-contents.ts";

const rowsOf = (batch: number) =>
  Array.from({ length: 5 }, (_, i) => ({
    id: `version-${batch}-${i}`,
    path: `guide/${batch}/${i}.md`,
    content: `---\ntitle: Lantern ${i}\n---\n\nA wick and oil of batch ${batch}.\n`,
  }));
const buildOf = (batch: number): SegmentTask => ({ kind: "build", rows: rowsOf(batch) });
const batches = Array.from({ length: 6 }, (_, batch) => buildOf(batch));

test("a segment that another thread builds has the same sections", async () => {
  const threads = new SegmentThreads(2);
  const built = await Promise.all(batches.map((task) => threads.run(task)));
  const own = batches.map((task) => runSegmentTask(task));
  for (const [i, { buffer }] of built.entries()) {
    const same = own[i]?.buffer as SharedArrayBuffer;
    expect(sectionBytes(buffer).equals(sectionBytes(same))).toBe(true);
  }
});

test("a segment that a thread of lower priority merges has the same sections and numbers", async () => {
  const inputs = batches.map((task) => ({
    buffer: runSegmentTask(task).buffer,
    keep: Uint32Array.of(0b10110),
  }));
  const merged = await new SegmentThreads(1, 5).run({ kind: "merge", inputs });
  const own = runSegmentTask({ kind: "merge", inputs });
  expect(sectionBytes(merged.buffer).equals(sectionBytes(own.buffer))).toBe(true);
  expect(merged.numbers).toEqual(own.numbers);
  expect(merged.numbers.flatMap((each) => [...each]).filter((number) => number < 0)).toHaveLength(
    12,
  );
});

test("a batch that cannot be built is refused, and the next one is built", async () => {
  const threads = new SegmentThreads(1);
  const broken = [{ id: "1", path: "a.md", content: null as unknown as string }];
  await expect(threads.run({ kind: "build", rows: broken })).rejects.toThrow(
    "cannot make a text segment",
  );
  expect((await threads.run(buildOf(0))).buffer.byteLength).toBeGreaterThan(0);
});

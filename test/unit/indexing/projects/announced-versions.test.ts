import { expect, test } from "bun:test";
import { AnnouncedVersions } from "../../../../src/indexing/projects/announced-versions.ts";
import { INDEX_ANNOUNCED_MAX } from "../../../../src/shared/limits.ts";

test("announced versions are taken in order, whatever the sizes of announcements and slices", () => {
  const announced = new AnnouncedVersions();
  announced.add(["a", "b", "c"]);
  announced.add([]);
  announced.add(["d", "e"]);
  expect(announced.take(2)).toEqual(["a", "b"]);
  expect(announced.size).toBe(3);
  expect(announced.take(2)).toEqual(["c", "d"]);
  expect(announced.take(9)).toEqual(["e"]);
  expect(announced.take(1)).toEqual([]);
  expect(announced.size).toBe(0);
});

test("the oldest version decides how long versions have waited", async () => {
  const announced = new AnnouncedVersions();
  expect(announced.waitingMs).toBe(0);
  announced.add(["a", "b"]);
  await Bun.sleep(20);
  announced.add(["c"]);
  announced.take(1);
  expect(announced.waitingMs).toBeGreaterThanOrEqual(19);
  announced.take(2);
  expect(announced.waitingMs).toBe(0);
});

test("more versions than can wait are dropped", () => {
  const announced = new AnnouncedVersions();
  announced.add(Array.from({ length: INDEX_ANNOUNCED_MAX }, (_, i) => String(i)));
  announced.add(["too many"]);
  expect(announced.size).toBe(INDEX_ANNOUNCED_MAX);
});

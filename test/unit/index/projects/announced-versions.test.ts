import { expect, test } from "bun:test";
import { INDEX_ANNOUNCED_MAX } from "../../../../src/domain/limits.ts";
import { AnnouncedVersions } from "../../../../src/index/projects/announced-versions.ts";
import { advance, useFakeClock } from "../../../../support/fake-clock.ts";

useFakeClock();

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
  await advance(20);
  announced.add(["c"]);
  await advance(5);
  announced.take(1);
  expect(announced.waitingMs).toBe(25);
  announced.take(1);
  expect(announced.waitingMs).toBe(5);
  announced.take(1);
  expect(announced.waitingMs).toBe(0);
});

test("more versions than can wait are dropped", () => {
  const announced = new AnnouncedVersions();
  announced.add(Array.from({ length: INDEX_ANNOUNCED_MAX }, (_, i) => String(i)));
  announced.add(["too many"]);
  expect(announced.size).toBe(INDEX_ANNOUNCED_MAX);
});

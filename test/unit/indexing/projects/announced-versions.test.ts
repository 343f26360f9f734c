import { expect, test } from "bun:test";
import { AnnouncedVersions } from "../../../../src/indexing/projects/announced-versions.ts";
import { INDEX_ANNOUNCED_MAX } from "../../../../src/shared/limits.ts";
import { useFakeClock } from "../../../../support/fake-clock.ts";

useFakeClock();

test("more versions than can wait are dropped", () => {
  const announced = new AnnouncedVersions();
  announced.add(Array.from({ length: INDEX_ANNOUNCED_MAX }, (_, i) => String(i)));
  announced.add(["too many"]);
  expect(announced.size).toBe(INDEX_ANNOUNCED_MAX);
});

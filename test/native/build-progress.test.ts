import { expect, test } from "bun:test";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compiledSince } from "../../native/build-progress.ts";
import { temporaryFolder } from "../../support/folders.ts";

test("a build counts the parts that it has compiled, and neither objects of earlier builds nor unfinished ones", () => {
  const folder = temporaryFolder("objects");
  const now = Date.now();
  const write = (name: string, at: number) => {
    writeFileSync(join(folder, name), "");
    utimesSync(join(folder, name), at / 1_000, at / 1_000);
  };
  const parts = ["folder-search", "zstd", "zstd-more", "kernels"];
  write("folder-search-1a.o", now - 60_000);
  write("zstd-2b.o", now + 1_000);
  write("kernels-3c.o.4711", now + 1_000);
  expect(compiledSince(now, folder, parts)).toBe(1);
  write("folder-search-4d.o", now + 2_000);
  expect(compiledSince(now, folder, parts)).toBe(2);
  expect(compiledSince(now, join(folder, "none"), parts)).toBe(0);
});

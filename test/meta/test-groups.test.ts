import { expect, test } from "bun:test";
import { folderOf, groupsOf, testFiles } from "../../scripts/test-groups.ts";
import { filesOf } from "./sources.ts";

test("npm run test:all runs every test file once, and npm test those that are not in test/long", async () => {
  const files = filesOf("test/**/*.test.ts").sort();
  const isLong = (file: string) => file.startsWith("test/long/");
  expect(
    groupsOf(await testFiles([], true))
      .flat()
      .sort(),
  ).toEqual(files);
  expect(
    groupsOf(await testFiles([], false))
      .flat()
      .sort(),
  ).toEqual(files.filter((file) => !isLong(file)));
  expect(files.some(isLong)).toBe(true);
});

test("a process runs the test files of one folder", async () => {
  for (const group of groupsOf(await testFiles([], true))) {
    expect(new Set(group.map(folderOf)).size).toBe(1);
  }
  expect(folderOf("test/unit/http/load/body.test.ts")).toBe("test/unit");
  expect(folderOf("test/long/api/overload.test.ts")).toBe("test/long/api");
});

test("a pattern selects the test files whose path contains it", async () => {
  expect(await testFiles(["./test/meta/test-gr"], false)).toEqual([
    "test/meta/test-groups.test.ts",
  ]);
  expect(await testFiles(["meta/test-gr", "no such file"], false)).toHaveLength(1);
  expect(await testFiles(["no such file"], true)).toEqual([]);
});

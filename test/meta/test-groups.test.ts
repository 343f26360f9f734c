import { expect, test } from "bun:test";
import { groupsOf, testFiles } from "../../scripts/test-groups.ts";

test("the test command runs every test file once, in processes of one folder each", async () => {
  const files = await testFiles([]);
  const groups = groupsOf(files);
  expect(groups.flat().sort()).toEqual(files);
  for (const group of groups) {
    expect(new Set(group.map((file) => file.split("/")[1])).size).toBe(1);
  }
});

test("a pattern selects the test files whose path contains it", async () => {
  expect(await testFiles(["./test/meta/test-gr"])).toEqual(["test/meta/test-groups.test.ts"]);
  expect(await testFiles(["meta/test-gr", "no such file"])).toHaveLength(1);
  expect(await testFiles(["no such file"])).toEqual([]);
});

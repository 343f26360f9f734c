import { describe, expect, test } from "bun:test";
import { declaredTests, testFiles } from "../../scripts/test-groups.ts";
import { lacksOf, needsOf, PROGRAM_NAMES } from "../../support/programs.ts";
import { codeOf, filesOf, importsOf, textOf } from "./sources.ts";

const HELPERS = filesOf("test/**/*.ts", "support/**/*.ts", "bench/**/*.ts").filter(
  (file) => file !== "support/programs.ts",
);

/** This file has names of programs in its texts, and the other one imports benchmarks by the names in a table. */
const UNREADABLE = ["test/meta/programs.test.ts", "test/long/bench/benchmarks.test.ts"];

/** The programs that a file starts itself. */
const startedIn = (file: string): string[] =>
  [...codeOf(file).matchAll(/\bprogramPath\("([^"]+)"\)/g)].map(([, name]) => name as string);

/** The programs that a file or anything it imports can start. */
function reachedFrom(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const found = new Set(startedIn(file));
  for (const { target } of importsOf(file)) {
    if (target === undefined || !HELPERS.includes(target)) continue;
    for (const name of reachedFrom(target, seen)) found.add(name);
  }
  return found;
}

describe("programs that tests start and npm does not bring", () => {
  test("every test file names those that it can start, and no others", async () => {
    const wrong = (await testFiles([], true)).flatMap((file) => {
      if (UNREADABLE.includes(file)) return [];
      const named = new Set([...needsOf(textOf(file)), ...lacksOf(textOf(file))]);
      const differing = reachedFrom(file).symmetricDifference(named);
      return differing.size === 0 ? [] : [`${file}: ${[...differing].join(", ")}`];
    });
    expect(wrong).toEqual([]);
  });

  test("are started by the path of the list only", () => {
    const names = PROGRAM_NAMES.join("|");
    const byName = new RegExp(`(?:spawn(?:Sync)?\\(\\s*\\[|which\\()\\s*"(?:/\\S*/)?(?:${names})"`);
    expect(HELPERS.filter((file) => byName.test(codeOf(file)))).toEqual([]);
    expect(new Set(HELPERS.flatMap(startedIn))).toEqual(new Set(PROGRAM_NAMES));
  });

  test("the tests of a file that is skipped are counted as it declares them", () => {
    const text = [
      ...[
        'test("a", () => {',
        '  test.each(TABLE)("b %s", () => {',
        '  test.skipIf(no())("c", () => {',
      ],
      ...["test.each([", "contest(1);", "testing();"],
    ].join("\n");
    expect(declaredTests(text)).toBe(3);
  });
});

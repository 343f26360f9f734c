import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { textOf } from "./sources.ts";

const REFERENCE = /`(test\/[^`]+\.test\.ts)`: "([^"]+)"/g;

for (const document of ["docs/guarantees.md", "docs/security.md"]) {
  describe(document, () => {
    const rows = textOf(document)
      .split("\n")
      .filter((line) => /^\| (?!promise|threat)/.test(line));

    test(`every promise of ${document} names the test that attacks it`, () => {
      expect(rows.length).toBeGreaterThan(0);
      const unproven = rows.filter((row) => row.matchAll(REFERENCE).next().done);
      expect(unproven).toEqual([]);
    });

    test(`every test that ${document} names exists`, () => {
      const missing = [...textOf(document).matchAll(REFERENCE)].filter(
        ([, file = "", name = ""]) => !existsSync(file) || !textOf(file).includes(name),
      );
      expect(missing.map(([reference]) => reference)).toEqual([]);
    });
  });
}

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { filesOf, ROOT, textOf } from "./sources.ts";

/** Folders that need a row: tests in isolation and fixtures are described as a whole. */
function isListed(folder: string): boolean {
  return !/^(test\/(unit|fixtures)|fixtures)\//.test(folder) && folder !== "bench";
}

test("the folder table of ARCHITECTURE.md names every folder that has sources", () => {
  const files = filesOf(
    "{src,workers,native,bench,test,support,scripts}/**/*.{ts,tsx,sql,cc,hpp,sh}",
  );
  const folders = [...new Set(files.map((file) => dirname(file)))].filter(isListed);
  const text = textOf("ARCHITECTURE.md");
  expect(folders.filter((folder) => !text.includes(`\`${folder}/\``))).toEqual([]);
});

test("the folder table of ARCHITECTURE.md names only folders that exist", () => {
  const rows = textOf("ARCHITECTURE.md").match(/^\| `[^|]+\|/gm) ?? [];
  const named = rows.flatMap((row) => [...row.matchAll(/`([\w/-]+)\/`/g)].map(([, name]) => name));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !existsSync(join(ROOT, name ?? "")))).toEqual([]);
});

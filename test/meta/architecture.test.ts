import { expect, test } from "bun:test";
import { currentPage, wantedPage } from "../../scripts/folders.ts";
import { textOf } from "./sources.ts";

/** As long as a new engineer reads in fifteen minutes, and a user of the README in three. */
const PAGE_LINES = { "ARCHITECTURE.md": 250, "README.md": 135 } as const;

test("docs/folders.md has every folder that has sources and no other, each with a description", () => {
  const page = currentPage();
  expect(page).toBe(wantedPage(page));
  expect(page.match(/^\| `[^`]+` \| +\|$/gm) ?? []).toEqual([]);
});

test("ARCHITECTURE.md and README.md are short enough to be read", () => {
  for (const [page, lines] of Object.entries(PAGE_LINES)) {
    expect(textOf(page).split("\n").length - 1, page).toBeLessThanOrEqual(lines);
  }
});

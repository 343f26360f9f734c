/**
 * Lists the folders that have sources in docs/folders.md, with the descriptions that it has for them.
 * `bun scripts/folders.ts` adds what is missing and removes what is gone; `--lines` also prints the
 * lines of each folder.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "..");
const PAGE = join(ROOT, "docs", "folders.md");
const SOURCES =
  "{src,workers,native,bench,test,support,scripts,client}/**/*.{ts,tsx,sql,cc,hpp,sh}";
/** Folders without a row of their own: those of tests in isolation mirror `src/`. */
const UNLISTED = /(^|\/)(node_modules|build|dist)(\/|$)|^test\/(unit|fixtures)\/.|^bench$/;
const INTRODUCTION = `# Folders

All folders that have sources, made by \`bun scripts/folders.ts\`, which keeps the descriptions. A test compares
this page with the folders that exist. [ARCHITECTURE.md](../ARCHITECTURE.md) explains how they work together.

| folder | contents |
|---|---|
`;

/** The sources of the repository by their folder, in the order of the folders' names. */
function sourcesByFolder(): Map<string, string[]> {
  const files = [...new Glob(SOURCES).scanSync({ cwd: ROOT })];
  const folders = Map.groupBy(files, (file) => dirname(file));
  const listed = [...folders].filter(([folder]) => !UNLISTED.test(folder));
  return new Map(listed.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The page as it is in the repository. */
export function currentPage(): string {
  return readFileSync(PAGE, "utf8");
}

/** The page as it should be. A folder that has no description yet has an empty one. */
export function wantedPage(page: string): string {
  const rows = page.matchAll(/^\| `([^`]+)\/` \| (.*) \|$/gm);
  const descriptions = new Map([...rows].map(([, folder, text]) => [folder, text]));
  const lines = [...sourcesByFolder().keys()].map(
    (folder) => `| \`${folder}/\` | ${descriptions.get(folder) ?? ""} |\n`,
  );
  return INTRODUCTION + lines.join("");
}

function printLines(): void {
  for (const [folder, files] of sourcesByFolder()) {
    const texts = files.map((file) => readFileSync(join(ROOT, file), "utf8"));
    const lines = texts.reduce((sum, text) => sum + text.split("\n").length - 1, 0);
    process.stdout.write(`${String(lines).padStart(7)}  ${folder}/\n`);
  }
}

if (import.meta.main) {
  writeFileSync(PAGE, wantedPage(currentPage()));
  if (process.argv.includes("--lines")) printLines();
}

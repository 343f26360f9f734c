import { readFileSync } from "node:fs";
import { Glob } from "bun";
import { parseMarkdown } from "../../src/documents/markdown/index.ts";
import type { KnowledgeDocument } from "../../src/index/segments/index.ts";

/** Reads every Markdown file below a folder, in path order; the path is also the id. */
export function readCorpus(folder: string): KnowledgeDocument[] {
  const paths = [...new Glob("**/*.{md,mdx}").scanSync(folder)].sort();
  return paths.map((path) => {
    const parsed = parseMarkdown(path, readFileSync(`${folder}/${path}`, "utf8"));
    return { id: path, path, ...parsed };
  });
}

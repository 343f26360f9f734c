import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseMarkdown } from "../../src/documents/markdown/index.ts";
import type { KnowledgeDocument } from "../../src/index/segments/index.ts";
import { mean } from "../harness/statistics.ts";
import type { SearchSystem } from "./measure.ts";

/** A query and the paths of all documents that people judged relevant to it. */
export interface JudgedQuery {
  readonly text: string;
  readonly relevant: ReadonlySet<string>;
}

interface JudgedCollection {
  readonly documents: KnowledgeDocument[];
  readonly queries: JudgedQuery[];
}

const DEPTH = 10;

/**
 * Reads a test collection: `documents.ndjson` with `id`, `title` and `text`, and `queries.ndjson`
 * with `query` and `relevant`, a list of ids. Documents become Markdown files with the title in the
 * frontmatter.
 */
export function readJudged(folder: string): JudgedCollection {
  const read = <T>(name: string) =>
    readFileSync(join(folder, name), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as T);
  const documents = read<{ id: string; title: string; text: string }>("documents.ndjson");
  const queries = read<{ query: string; relevant: string[] }>("queries.ndjson");
  return {
    documents: documents.map(({ id, title, text }) => {
      const path = pathOf(id);
      const frontmatter = title === "" ? "" : `---\ntitle: ${JSON.stringify(title)}\n---\n\n`;
      return { id, path, ...parseMarkdown(path, `${frontmatter}${text}\n`) };
    }),
    queries: queries.map(({ query, relevant }) => ({
      text: query,
      relevant: new Set(relevant.map(pathOf)),
    })),
  };
}

function pathOf(id: string): string {
  return `${id}.md`;
}

/** Mean nDCG of the first 10 results, with binary judgements. */
export function meanNdcg(system: SearchSystem, queries: readonly JudgedQuery[]): number {
  return mean(queries.map(({ text, relevant }) => ndcg(system(text), relevant)));
}

/** Mean reciprocal rank of the first relevant one among the first 10 results; 0 for none. */
export function meanReciprocalRank(system: SearchSystem, queries: readonly JudgedQuery[]): number {
  const rankOf = ({ text, relevant }: JudgedQuery) =>
    system(text)
      .slice(0, DEPTH)
      .findIndex((path) => relevant.has(path));
  return mean(queries.map(rankOf).map((rank) => (rank < 0 ? 0 : 1 / (rank + 1))));
}

function ndcg(ranked: readonly string[], relevant: ReadonlySet<string>): number {
  const gain = (rank: number) => 1 / Math.log2(rank + 2);
  let gained = 0;
  ranked.slice(0, DEPTH).forEach((path, rank) => {
    if (relevant.has(path)) gained += gain(rank);
  });
  let best = 0;
  for (let rank = 0; rank < Math.min(DEPTH, relevant.size); rank++) best += gain(rank);
  return best === 0 ? 0 : gained / best;
}

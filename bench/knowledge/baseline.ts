import MiniSearch, { type SearchOptions } from "minisearch";
import type { KnowledgeDocument } from "../../src/text/index.ts";
import { RANKS, type SearchSystem } from "../../support/relevance/measure.ts";

const FIELDS = ["path", "title", "headings", "frontmatter", "content"];

/** Options that a careful user of MiniSearch would choose. */
const TUNED: SearchOptions = {
  boost: { title: 6, headings: 3, path: 3, frontmatter: 2 },
  prefix: (_term, i, terms) => i === terms.length - 1,
  fuzzy: (term) => (term.length > 3 ? 0.2 : false),
};

/** MiniSearch over the same documents, with its defaults and tuned. */
export function baselines(documents: readonly KnowledgeDocument[]): Array<[string, SearchSystem]> {
  const index = new MiniSearch({ fields: FIELDS, idField: "path" });
  index.addAll(
    documents.map(({ path, title, headings, frontmatter, content }) => ({
      path,
      title,
      headings: headings.join("\n"),
      frontmatter: frontmatter.map((entry) => entry.value).join("\n"),
      content: [...headings, content].join("\n"),
    })),
  );
  const ask = (options: SearchOptions) => (query: string) =>
    index
      .search(query, options)
      .slice(0, RANKS)
      .map((hit) => String(hit.id));
  return [
    ["MiniSearch, defaults", ask({})],
    ["MiniSearch, tuned", ask(TUNED)],
  ];
}

import { Database } from "bun:sqlite";
import MiniSearch, { type SearchOptions } from "minisearch";
import { stem } from "porter2";
import type { KnowledgeDocument } from "../../src/index/segments/index.ts";
import { RANKS, type SearchSystem } from "../relevance/measure.ts";

const FIELDS = ["path", "title", "headings", "frontmatter", "content"] as const;
type Row = Record<(typeof FIELDS)[number], string>;

/** Options that a careful user of MiniSearch would choose. */
const TUNED: SearchOptions = {
  boost: { title: 6, headings: 3, path: 3, frontmatter: 2 },
  prefix: (_term, i, terms) => i === terms.length - 1,
  fuzzy: (term) => (term.length > 3 ? 0.2 : false),
};

/** Other search systems over the same documents. */
export function baselines(documents: readonly KnowledgeDocument[]): Array<[string, SearchSystem]> {
  const rows = documents.map(rowOf);
  return [...miniSearch(rows), ...fts5(rows), ["BM25, Porter, stop words", bm25(rows)]];
}

function rowOf({ path, title, headings, frontmatter, content }: KnowledgeDocument): Row {
  const values = frontmatter.filter(({ key }) => key !== "title").map(({ value }) => value);
  return {
    path,
    title,
    headings: headings.join("\n"),
    frontmatter: values.join("\n"),
    content: [...headings, content].join("\n"),
  };
}

/** MiniSearch with its defaults and tuned. */
function miniSearch(rows: readonly Row[]): Array<[string, SearchSystem]> {
  const index = new MiniSearch({ fields: [...FIELDS], idField: "path" });
  index.addAll(rows);
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

/** SQLite FTS5 with Porter's stemmer, all fields alike and weighted; the last word is a prefix. */
function fts5(rows: readonly Row[]): Array<[string, SearchSystem]> {
  const database = new Database(":memory:");
  database.run(
    `CREATE VIRTUAL TABLE documents USING fts5(${FIELDS.join(", ")}, tokenize = 'porter unicode61')`,
  );
  const insert = database.prepare("INSERT INTO documents VALUES (?, ?, ?, ?, ?)");
  database.transaction(() => {
    for (const row of rows) insert.run(...FIELDS.map((field) => row[field]));
  })();
  const ask = (weights: string) => {
    const select = database.prepare<{ path: string }, [string]>(
      `SELECT path FROM documents WHERE documents MATCH ?
       ORDER BY bm25(documents${weights}) LIMIT ${RANKS}`,
    );
    return (query: string) => {
      const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
      const terms = words.map((word, i) => `"${word}"${i === words.length - 1 ? "*" : ""}`);
      return terms.length === 0 ? [] : select.all(terms.join(" OR ")).map(({ path }) => path);
    };
  };
  return [
    ["FTS5, Porter", ask("")],
    ["FTS5, Porter, weighted", ask(", 3, 6, 3, 2, 1")],
  ];
}

const STOP_WORDS = new Set(
  `a about after all also an and any are as at be because been before being between both but by can
   could did do does during each for from had has have how i if in into is it its may more most no not
   of on only or other our out over should so some such than that the their them then there these they
   this those through to under up very was we were what when where which while who why will with would
   you your`.split(/\s+/),
);
const K1 = 1.2;
const B = 0.75;

/** Textbook BM25 over one field that holds all text of a document. */
function bm25(rows: readonly Row[]): SearchSystem {
  const wordsOf = (text: string) =>
    (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
      .filter((word) => !STOP_WORDS.has(word))
      .map((word) => stem(word));
  const lengths: number[] = [];
  const postings = new Map<string, Map<number, number>>();
  rows.forEach(({ title, frontmatter, content }, document) => {
    const words = wordsOf([title, frontmatter, content].join("\n"));
    lengths.push(words.length);
    for (const word of words) {
      const own = postings.get(word) ?? new Map<number, number>();
      postings.set(word, own.set(document, (own.get(document) ?? 0) + 1));
    }
  });
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  return (query) => {
    const scores = new Map<number, number>();
    for (const word of new Set(wordsOf(query))) {
      const own = postings.get(word) ?? new Map<number, number>();
      const idf = Math.log(1 + (rows.length - own.size + 0.5) / (own.size + 0.5));
      for (const [document, frequency] of own) {
        const norm = K1 * (1 - B + (B * (lengths[document] as number)) / average);
        const score = (idf * frequency * (K1 + 1)) / (frequency + norm);
        scores.set(document, (scores.get(document) ?? 0) + score);
      }
    }
    const ranked = [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    return ranked.slice(0, RANKS).map(([document]) => (rows[document] as Row).path);
  };
}

import { describe, expect, test } from "bun:test";
import { tokenize } from "../../../../native/words.ts";
import { searchText, type TextView } from "../../../../support/text-search.ts";
import { documentOf, viewOf } from "./documents.ts";

function snippetOf(content: string, query: string) {
  const view = viewOf([documentOf("a.md", { title: "guide", content })]);
  const snippet = searchText(view, query).hits[0]?.snippet;
  if (snippet === undefined) throw new Error("there is no snippet");
  return {
    ...snippet,
    marked: snippet.matches.map(([start, end]) => snippet.text.slice(start, end)),
  };
}

function snippets(view: TextView, query: string) {
  return searchText(view, query).hits.flatMap(({ snippet }) => snippet ?? []);
}

const FILLER = "The harbour was quiet and nobody spoke of the weather that day. ".repeat(80);

/** So many words are searched at a time (`MAX_RERANK_TOKENS`). */
const PART_WORDS = 16_384;

describe("snippets", () => {
  test("a snippet shows the passage that holds the words of the query", () => {
    const content = `${FILLER}A lantern hangs at the pier. ${FILLER}`;
    const { text, marked } = snippetOf(content, "lantern pier");
    expect(marked).toEqual(["lantern", "pier"]);
    expect(text).toStartWith("…");
    expect(text).toEndWith("…");
  });

  test("the passage with more of the query is shown, not the first one", () => {
    const content = `One lantern. ${FILLER} A lantern with a new wick. ${FILLER}`;
    expect(snippetOf(content, "lantern wick").marked).toEqual(["lantern", "wick"]);
  });

  test("other forms, unfinished and misspelt words are marked too", () => {
    expect(snippetOf("He restored the snapshots.", "restoring snapshot").marked).toEqual([
      "restored",
      "snapshots",
    ]);
    expect(snippetOf("Kubernetes probes.", "kubern").marked).toEqual(["Kubernetes"]);
    expect(snippetOf("Kubernetes probes.", "kubrenetes").marked).toEqual(["Kubernetes"]);
  });

  test("white space becomes single spaces", () => {
    expect(snippetOf("See the lantern\n\n\tguide. ", "lantern").text).toBe(
      "See the lantern guide.",
    );
  });

  test("text that HTML reserves stays as it is, for the client to escape", () => {
    expect(snippetOf("If a < b && b > lantern", "lantern").text).toBe("If a < b && b > lantern");
  });

  test("accents, case and unspaced scripts are marked in the original text", () => {
    expect(snippetOf("Größe der Übung", "ubung grosse").marked).toEqual(["Größe", "Übung"]);
    expect(snippetOf("全文検索の仕組み", "検索").marked).toEqual(["検索"]);
    expect(snippetOf("データ検索基盤とデータ", "検索基盤").marked).toEqual(["検索基盤"]);
  });

  test("a document that matches elsewhere shows the beginning of its content", () => {
    expect(snippetOf("Nothing of it here.", "guide")).toEqual({
      text: "Nothing of it here.",
      matches: [],
      marked: [],
    });
  });

  test("a document without content has no snippet", () => {
    const view = viewOf([documentOf("a.md", { title: "lantern" })]);
    expect(searchText(view, "lantern").hits).toHaveLength(1);
    expect(snippets(view, "lantern")).toEqual([]);
  });

  test("a match anywhere in a long text is found", () => {
    for (const before of [0, 700, 2_000, 2_040, 4_100, 30_000]) {
      const content = `${FILLER.repeat(7).slice(0, before)} lantern ${FILLER}`;
      expect([before, snippetOf(content, "lantern").marked]).toEqual([before, ["lantern"]]);
    }
  });

  test("a match anywhere in a text of tens of thousands of words is found, and the best of its parts", () => {
    const long = FILLER.repeat(40);
    expect(tokenize(long).length).toBeGreaterThan(2 * PART_WORDS);
    expect(snippetOf(`${long} A lantern at last.`, "lantern").marked).toEqual(["lantern"]);
    const { marked } = snippetOf(
      `One lantern. ${long} A lantern at the pier. ${FILLER}`,
      "lantern pier",
    );
    expect(marked).toEqual(["lantern", "pier"]);
  });
});

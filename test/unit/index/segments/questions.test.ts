import { expect, test } from "bun:test";
import { pathsOf, searchText } from "../../../../support/text-search.ts";
import { documentOf, viewOf } from "./documents.ts";

function ranking(contents: Readonly<Record<string, string>>, query: string): string[] {
  const view = viewOf(
    Object.entries(contents).map(([path, content]) => documentOf(path, { content })),
  );
  return pathsOf(searchText(view, query).hits);
}

const FILLER = "Boats leave with the morning tide and return at night. ".repeat(4);

test("the words that make a sentence a question do not decide what answers it", () => {
  const contents = {
    "about.md": `${FILLER} Lanterns burn oil.`,
    "asking.md": `${FILLER} You may do that. With what? It is nothing.`,
    "other.md": FILLER,
  };
  expect(ranking(contents, "what is it that you do with lanterns")[0]).toBe("about.md");
});

test("a word that the question repeats counts more than one that it names once", () => {
  const contents = {
    "anchor.md": `${FILLER} An anchor.`,
    "lantern.md": `${FILLER} A lantern.`,
    "other.md": FILLER,
  };
  expect(ranking(contents, "lantern anchor lantern")[0]).toBe("lantern.md");
  expect(ranking(contents, "anchor lantern anchor")[0]).toBe("anchor.md");
});

test("length is relative to the other documents, however short all of them are", () => {
  const contents = {
    "long.md": "lantern rope sail mast deck hull keel bow stern oar",
    "short.md": "lantern rope sail",
    "other.md": "rope sail mast deck",
  };
  expect(ranking(contents, "lantern")).toEqual(["short.md", "long.md"]);
});

test("all forms of a word together make a document more relevant", () => {
  const contents = {
    "once.md": `${FILLER} Indexed.`,
    "often.md": `${FILLER} Indexed and indexes.`,
    "other.md": FILLER,
  };
  expect(ranking(contents, "indexing")[0]).toBe("often.md");
});

test("a rare identifier in a question counts more than the words around it", () => {
  const contents = {
    "api.md": `${FILLER} See hoistMainSail.`,
    "guide.md": `How to use options of a site: use options in the site. ${FILLER}`,
    "site.md": `A site and its options. ${FILLER}`,
  };
  expect(ranking(contents, "how do i use hoistMainSail options in my site")[0]).toBe("api.md");
});

test("a name in mixed case that many documents hold counts as a word like others", () => {
  const contents: Record<string, string> = {
    "rigging.md": `${FILLER} Rigging the mast with rope, rigging.`,
  };
  for (let i = 0; i < 9; i++) contents[`${i}.md`] = `${FILLER} GitHub.`;
  expect(ranking(contents, "how do i find rigging for the mast on GitHub")[0]).toBe("rigging.md");
});

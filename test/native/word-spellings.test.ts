import { describe, expect, test } from "bun:test";
import { Retriever } from "../../bench/relevance/retriever.ts";
import { parseMarkdown } from "../../src/documents/markdown/index.ts";
import { WEAK_SCORE } from "../../src/domain/limits.ts";
import { embed, embedPassage } from "../../src/embed/embedders/feature-hashing.ts";
import { searchText } from "../../support/text-search.ts";
import { documentOf, viewOf } from "../unit/index/segments/documents.ts";

/** Spellings of a name or a word that each find a text with any other of them. */
const SAME: ReadonlyArray<readonly [kind: string, ...spellings: string[]]> = [
  ["joined and split words", "timezone", "time zone", "time-zone"],
  ["joined and split words", "dropdown", "drop-down", "drop down"],
  ["joined and split words", "nodejs", "Node.js", "node js", "NodeJS"],
  ["joined and split words", "wifi", "Wi-Fi", "WiFi", "wi fi"],
  ["joined and split words", "filesystem", "file system", "file-system"],
  ["joined and split words", "plugin", "plug-in", "plug in"],
  ["joined and split words", "username", "user name", "user-name"],
  ["joined and split words", "pubsub", "pub sub", "pub/sub", "Pub-Sub"],
  ["joined and split words", "email", "e-mail", "E-Mail"],
  ["joined and split words", "login", "log in", "log-in"],
  ["joined and split words", "timezones", "time zones"],
  ["joined and split words", "readonly", "read-only", "read only"],
  ["joined and split words", "uptodate", "up-to-date"],
  ["joined and split words", "arcenciel", "arc-en-ciel"],
  ["joined and split words", "reuse", "re-use"],
  ["joined and split words", "online", "on-line"],
  ["joined and split words", "tshirt", "T-shirt"],
  ["joined and split words", "aujourdhui", "aujourd’hui", "aujourd'hui"],
  ["joined and split words", "portefeuille", "porte-feuille"],
  ["joined and split words", "madreselva", "madre selva"],
  ["joined and split words", "интернетмагазин", "интернет-магазин", "интернет магазин"],
  ["joined and split words", "veritabanı", "veri tabanı"],
  ["names by their parts", "backgroundHue", "background-hue", "background_hue", "BackgroundHue"],
  ["names by their parts", "maxPoolGates", "max_pool_gates", "max-pool-gates", "max pool gates"],
  ["names by their parts", "maxpoolgates", "max_pool_gates"],
  ["names by their parts", "poolGates", "pool_gates"],
  ["names by their parts", "parseHTTPHeader", "parse-http-header", "parse_http_header"],
  ["numbers and units", "75GB", "75 GB", "75-GB"],
  ["numbers and units", "７５ＧＢ", "75 GB", "75GB"],
  ["numbers and units", "75ГБ", "75 ГБ"],
  ["numbers and units", "24500", "24,500"],
  ["numbers and units", "1234567", "1,234,567", "1 234 567", "1.234.567"],
  ["numbers and units", "5G", "5 G", "5-G"],
  ["numbers and units", "20241005", "2024-10-05"],
  ["numbers and units", "QX-7741", "QX7741", "QX 7741", "qx7741"],
  ["numbers and units", "sha256", "SHA-256"],
  ["numbers and units", "0x80070ABC", "80070ABC", "0x80070abc"],
  ["numbers and units", "+49 30 1234567", "+49301234567", "+49-30-1234567", "+49 (30) 1234567"],
  ["abbreviations", "U.S.A.", "USA", "U.S.A", "usa"],
  ["abbreviations", "U.K.", "UK"],
  ["abbreviations", "Ph.D.", "PhD", "phd"],
  ["abbreviations", "AT&T", "at&t"],
  ["abbreviations", "R&D", "RD"],
  ["apostrophes", "п'ять", "пʼять", "п’ять"],
  ["apostrophes", "Hawaiʻi", "Hawai'i", "Hawaii", "Hawai’i"],
  ["apostrophes", "oʻzbek", "o'zbek", "o‘zbek", "ozbek"],
  ["apostrophes", "Qurʾan", "Qur'an"],
  ["apostrophes", "Quran", "Qur'an", "Qur’an"],
  ["apostrophes", "Xian", "Xi'an"],
  ["letters", "col·legi", "col.legi", "coŀlegi", "collegi"],
  ["letters", "il·lusió", "iŀlusió", "illusió"],
  ["letters", "ज़रूरत", "ज\u093cरूरत", "जरूरत"],
  ["letters", "می‌خواهم", "می خواهم", "میخواهم"],
  ["letters", "über", "ueber", "uber"],
  ["letters", "Öl", "Oel", "O\u0308l"],
  ["signs alone", "?."],
  ["signs alone", "=>"],
  ["signs alone", "??="],
  ["signs alone", "&&"],
  ["signs alone", "!=="],
];

/** Words that are found by the parts of an identifier, which are not marked in it. */
const UNMARKED = "max pool gates in maxPoolGates";

/** A query and a text that must not be found by it. */
const OTHER: ReadonlyArray<readonly [query: string, text: string]> = [
  ["therapist", "the rapist was caught"],
  ["the rapist", "any therapist"],
  ["notable", "There is no table. I am not able."],
  ["nowhere", "It is now here."],
  ["island", "This is land."],
  ["often", "one of ten"],
  ["timezone", "The time is shown. Every zone has a name."],
  ["username", "The name of the user"],
  ["maxPoolGates", "gates of the pool, at max"],
  ["carpet", "A pet in the car"],
  ["abcdefghijklmnopqrstuvwxyzabcdefghij", "abc defghijklmnopqrstuvwxyzabcdefghij"],
  ["2024", "20 24"],
  ["15", "1.5"],
  ["123", "1.2.3"],
  ["QX7742", "QX-7741"],
  ["24600", "24,500"],
  ["=>", "a <= b"],
  ["?.", "Is it so? Yes."],
  ["&&", "a & b"],
];

const FILLER = Object.fromEntries(
  Array.from({ length: 12 }, (_, i) => [`other${i}.md`, `# Other ${i}\n\nNothing like it.`]),
);

/** What is found in a few pages, one of which has this text. */
function worldOf(text: string) {
  const pages = { ...FILLER, "page.md": `# Page\n\nBefore it. Here ${text} is written.` };
  const documents = Object.entries(pages).map(([path, markdown]) => ({
    id: path,
    path,
    ...parseMarkdown(path, markdown),
  }));
  const view = viewOf(documents);
  return {
    /** The paths that are found, and the words that are marked in the first. */
    lookUp(query: string) {
      const { hits } = searchText(view, query);
      const { text = "", matches = [] } = hits[0]?.snippet ?? {};
      const marked = matches.map(([start, end]) => text.slice(start, end));
      return { paths: hits.map(({ path }) => path), marked };
    },
    hits(query: string) {
      const passages = documents.map(({ title, content }) => embedPassage([title], content));
      const retriever = new Retriever(documents, passages);
      const vector = embed(query) as Float32Array<ArrayBuffer>;
      const hits = retriever.hits("keyword", query, vector, 10);
      retriever.close();
      return hits;
    },
  };
}

describe("a spelling finds the others", () => {
  const rows = SAME.map(([kind, ...spellings]) => [kind, spellings] as const);
  test.each(rows)("%s: %p", (_, spellings) => {
    const missed: string[] = [];
    for (const text of spellings) {
      const { lookUp, hits } = worldOf(text);
      for (const query of spellings) {
        const [best] = hits(query);
        const { paths, marked } = lookUp(query);
        const isFound = paths[0] === "page.md" && best?.path === "page.md";
        if (!isFound || best.score < WEAK_SCORE) missed.push(`${query} -> ${text}`);
        else if (`${query} in ${text}` !== UNMARKED && marked.length * best.marked.length === 0)
          missed.push(`nothing is marked: ${query} -> ${text}`);
      }
    }
    expect(missed).toEqual([]);
  });
});

describe("other words are not found", () => {
  test.each(OTHER.map((row) => [...row]))("%s, in %p", (query, text) => {
    const { lookUp } = worldOf(text as string);
    expect(lookUp(query as string).paths).not.toContain("page.md");
  });
});

test("of a long page the passage with another spelling is shown", () => {
  const filler = "Nothing of the kind is here. ".repeat(400);
  for (const [query, text] of [
    ["24500", "24,500"],
    ["usa", "U.S.A."],
    ["quran", "Qur'an"],
    ["?.", "a?.b"],
  ] as const) {
    const content = `${filler}Here it is: ${text}, at last. ${filler}`;
    const [hit] = searchText(viewOf([documentOf("a.md", { content })]), query).hits;
    const { text: shown = "", matches = [] } = hit?.snippet ?? {};
    const marked = matches.map(([start, end]) => shown.slice(start, end));
    expect(marked).toEqual([query === "?." ? query : text.replace(/\.$/, "")]);
    expect(shown).toContain("Here it is");
  }
});

test("parts of a word that is written apart are marked and named only where they are together", () => {
  const filler = "A name and a user, or many names of users. ".repeat(40);
  const content = `${filler}Type your user name here. ${filler}`;
  const view = viewOf([
    documentOf("a.md", { title: "Names", headings: ["The user"], content }),
    documentOf("b.md", { content: `${filler}A username. ${filler}` }),
  ]);
  const hits = searchText(view, "username").hits.map(({ path, matched_fields, snippet }) => ({
    path,
    matched_fields,
    marked: snippet?.matches.map(([start, end]) => snippet.text.slice(start, end)),
  }));
  expect(hits).toContainEqual({ path: "a.md", matched_fields: ["content"], marked: ["user name"] });
  expect(hits).toContainEqual({ path: "b.md", matched_fields: ["content"], marked: ["username"] });
  const both = searchText(view, "username name").hits.find(({ path }) => path === "a.md");
  expect(both?.matched_fields).toContain("title");
});

test.each([
  ["24500", "There are 24,500 visitors.", "There are many."],
  ["usa", "It is made in the U.S.A. by hand.", "It is made by hand."],
  ["username", "Type your user name here.", "A name, a user, a name of a user, and no name."],
  ["username", "Type your username here.", "A name, a user, a name of a user, and no name."],
])("of a page the passage with %s in any spelling is the hit: %s", (query, wanted, other) => {
  const passages = [other, wanted, other];
  const page = documentOf("a.md", { content: passages.join(" ") });
  const elsewhere = documentOf("b.md", { content: "The user name is elsewhere." });
  const documents = [page, elsewhere];
  const vectors = documents.map(({ content }) => embedPassage([], content));
  const retriever = new Retriever(documents, vectors, ({ content }) =>
    content === page.content ? passages : [content],
  );
  const vector = embed(query) as Float32Array<ArrayBuffer>;
  for (const mode of ["keyword", "hybrid"] as const) {
    const hit = retriever.hits(mode, query, vector, 10).find(({ path }) => path === "a.md");
    expect(hit?.passage).toBe(wanted);
  }
  retriever.close();
});

test("of a long question only the first 16 words are looked for apart", () => {
  const { lookUp } = worldOf("time zone");
  const others = (count: number) => Array.from({ length: count }, (_, i) => `other${i}x`).join(" ");
  expect(lookUp(`${others(15)} timezone`).paths).toContain("page.md");
  expect(lookUp(`${others(16)} timezone`).paths).not.toContain("page.md");
});

test("a word written apart is looked for in a bounded amount of text", () => {
  const word = "bcdfghjklmnpqrstvwxzbcdfghjklmnp";
  const cut = (at: number, between: string) => word.slice(0, at) + between + word.slice(at);
  const all = Array.from({ length: word.length - 1 }, (_, i) => cut(i + 1, " x "));
  // Each cut reads it, and the bound is reached by the 30th.
  const long = documentOf("long.md", { content: `${all.join(" x ")} ${"x ".repeat(285_000)}` });
  const early = documentOf("early.md", { content: cut(2, " ") });
  const late = documentOf("late.md", { content: cut(30, " ") });
  const found = (...documents: Parameters<typeof viewOf>[0]) =>
    searchText(viewOf(documents), word).hits.map(({ path }) => path);
  expect(found(early, late)).toEqual(["early.md", "late.md"]);
  expect(found(early, late, long)).toEqual(["early.md"]);
});

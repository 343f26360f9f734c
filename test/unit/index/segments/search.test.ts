import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { KnowledgeDocument } from "../../../../src/index/segments/index.ts";
import { pathsOf, searchText, type TextView } from "../../../../support/text-search.ts";
import { byteOrder, dealtView, documentOf, someDocuments, viewOf, words } from "./documents.ts";

function find(view: TextView, query: string): string[] {
  return pathsOf(searchText(view, query).hits);
}

/** Everything that a caller sees of a ranking. */
function visible(view: TextView, query: string) {
  const { total, hits } = searchText(view, query);
  return { total, hits };
}

describe("matching", () => {
  const view = viewOf([
    documentOf("guide/backups.md", { title: "Backups", content: "How to restore the database." }),
    documentOf("guide/caching.md", { title: "Caching", content: "Entries expire after a minute." }),
    documentOf("ja.md", { content: "データベースを検索する" }),
    documentOf("de.md", { content: "Die Größe der Straße in Zürich" }),
    documentOf("names.md", { content: "Call getStaticProps before the page is rendered 🚀" }),
    documentOf("soft.md", { content: "a hyphen\u00adated word" }),
  ]);

  test("one typo in a word of four or more letters is tolerated", () => {
    for (const query of ["databse", "dtaabase", "databasse", "dattbase", "restre", "cachng"]) {
      expect(find(view, query)).toHaveLength(1);
    }
  });

  test("any single edit of a longer word still finds its document", () => {
    const letters = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz");
    const word = fc.array(letters, { minLength: 5, maxLength: 12 }).map((list) => list.join(""));
    const edit = fc.tuple(fc.nat(3), fc.nat(), letters);
    fc.assert(
      fc.property(word, edit, (original, [kind, place, letter]) => {
        const at = place % (original.length - 1);
        const [head, tail] = [original.slice(0, at), original.slice(at)];
        const misspelt = [
          head + tail.slice(1),
          head + letter + tail,
          head + letter + tail.slice(1),
          head + tail.charAt(1) + tail.charAt(0) + tail.slice(2),
        ][kind] as string;
        expect(find(viewOf([documentOf("a.md", { content: original })]), misspelt)).toEqual([
          "a.md",
        ]);
      }),
    );
  });

  test("words of three letters are matched exactly", () => {
    expect(find(viewOf([documentOf("a.md", { content: "cat" })]), "cot")).toEqual([]);
  });

  test("a known word is not treated as a misspelling", () => {
    const both = viewOf([
      documentOf("form.md", { content: "form" }),
      documentOf("from.md", { content: "from" }),
    ]);
    expect(find(both, "form")).toEqual(["form.md"]);
  });

  test("a misspelling is tolerated even if it shares a stem with another word", () => {
    const both = viewOf([
      documentOf("a.md", { title: "funcs" }),
      documentOf("b.md", { title: "functions" }),
    ]);
    expect(find(both, "funcions")[0]).toBe("b.md");
  });

  test("a wrong digit in a number is not a typo", () => {
    const number = viewOf([documentOf("a.md", { content: "port 8192" })]);
    expect(find(number, "8193 x")).toEqual([]);
  });

  test("a word is known only if a document in scope holds it", () => {
    const documents = [
      documentOf("in.md", { content: "harbour" }),
      documentOf("out.md", { content: "harbuor" }),
    ];
    const scoped = dealtView(
      documents,
      () => 0,
      (path) => path === "in.md",
    );
    expect(find(scoped, "harbuor")).toEqual(["in.md"]);
  });

  test("only the last word matches as a prefix", () => {
    expect(find(view, "restore data")).toContain("guide/backups.md");
    expect(find(view, "exp")).toEqual(["guide/caching.md"]);
    expect(find(view, "exp zzzz")).toEqual([]);
  });

  test("an exact match ranks before a prefix match", () => {
    const prefixed = viewOf([
      documentOf("a.md", { title: "container" }),
      documentOf("b.md", { title: "contain" }),
    ]);
    expect(find(prefixed, "contain")).toEqual(["b.md", "a.md"]);
  });

  test("a word finds its other forms, however its ending changes", () => {
    const forms = [
      ...[
        ["hoping", "hopes"],
        ["flies", "fly"],
        ["sensibility", "sensible"],
        ["ponies", "pony"],
      ],
      ...[
        ["organisation", "organize"],
        ["organised", "organizing"],
        ["presbyopia", "presbyopias"],
      ],
      ...[
        ["relational", "relate"],
        ["dying", "die"],
        ["responsiveness", "responsive"],
      ],
      ...[
        ["frequencies", "frequency"],
        ["stopped", "stopping"],
        ["tables", "table"],
      ],
    ] as const;
    for (const [known = "", asked = ""] of forms) {
      const view = viewOf([documentOf("a.md", { content: `${known} text` })]);
      expect([asked, find(view, `${asked} nothing`)]).toEqual([asked, ["a.md"]]);
    }
  });

  test("other forms of a word match, and rank after the word itself", () => {
    const forms = viewOf([
      documentOf("a.md", { content: "caches" }),
      documentOf("b.md", { content: "caching" }),
    ]);
    expect(find(forms, "caching results")).toEqual(["b.md", "a.md"]);
  });

  test("case, accents, ligatures and invisible characters are ignored", () => {
    expect(find(view, "GROSSE strasse")).toEqual(["de.md"]);
    expect(find(view, "zurich")).toEqual(["de.md"]);
    expect(find(view, "hyphenated")).toEqual(["soft.md"]);
  });

  test("unspaced scripts match by any substring, in half and full width", () => {
    expect(find(view, "検索")).toEqual(["ja.md"]);
    expect(find(view, "ﾃﾞｰﾀﾍﾞｰｽ")).toEqual(["ja.md"]);
    expect(find(view, "索")).toEqual(["ja.md"]);
    expect(find(view, "る")).toEqual(["ja.md"]);
  });

  test("pictographs and subwords of identifiers match", () => {
    expect(find(view, "🚀")).toEqual(["names.md"]);
    expect(find(view, "static props")).toEqual(["names.md"]);
  });

  test("a query without words matches nothing", () => {
    for (const query of ["", "   ", "!?.,;", "\u0000", "\ud800"])
      expect(find(view, query)).toEqual([]);
  });

  test("no query makes the search fail", () => {
    const strange = fc.string({ unit: "binary", maxLength: 500 });
    fc.assert(
      fc.property(strange, (query) => {
        expect(searchText(view, query).total).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("ranking", () => {
  test("titles outrank headings, and headings outrank content", () => {
    const ranked = viewOf([
      documentOf("a.md", { content: "lantern" }),
      documentOf("b.md", { headings: ["lantern"] }),
      documentOf("c.md", { title: "lantern" }),
    ]);
    expect(find(ranked, "lantern")).toEqual(["c.md", "b.md", "a.md"]);
  });

  test("adjacent words outrank the same words apart", () => {
    const filler = "and then some more of it ".repeat(4);
    const ranked = viewOf([
      documentOf("a.md", { content: `connection ${filler} pool` }),
      documentOf("b.md", { content: `${filler} connection pool` }),
    ]);
    expect(find(ranked, "connection pool")).toEqual(["b.md", "a.md"]);
  });

  test("equal scores are in byte order of path", () => {
    const paths = ["b.md", "B.md", "ｚ.md", "𝒳.md", "a/b.md", "a.md", "é.md"];
    const view = viewOf(paths.map((path) => documentOf(path, { id: path, content: "same" })));
    const plain = { ...view, segments: view.segments };
    expect(find(plain, "same")).toEqual([...paths].sort(byteOrder));
  });

  test.each(["how do you use quartz", "use of quartz", "what is the use of quartz"])(
    "in %p, function words do not make a document a match, and all other words do, however common",
    (query) => {
      const documents = Array.from({ length: 20 }, (_, i) =>
        documentOf(`${i}.md`, {
          content: `what is the way of how you do this ${i % 2 === 0 ? "use" : "see"} ${i === 7 ? "quartz" : ""}`,
        }),
      );
      const found = find(viewOf(documents), query);
      expect(found[0]).toBe("7.md");
      const holders = documents
        .map(({ path }) => path)
        .filter((path) => Number.parseInt(path, 10) % 2 === 0);
      expect(found.slice(1).sort()).toEqual(holders.sort());
    },
  );

  test.each(["to be or not to be", "the who", "it"])(
    "%p, which is function words alone, finds what it says",
    (query) => {
      const others = Array.from({ length: 20 }, (_, i) =>
        documentOf(`${i}.md`, { content: "so that is the way of it, to be sure, and who is not" }),
      );
      const wanted = documentOf("z.md", { content: `Then it was said: ${query}. The end.` });
      const { total, hits } = searchText(viewOf([...others, wanted]), query);
      expect(total).toBe(21);
      expect(query === "it" ? "z.md" : hits[0]?.path).toBe("z.md");
    },
  );

  test.each<[string, string, number]>([
    ["a word like others in English text", "that you can see", 5],
    ["a function word in Danish text", "som man kan se", 2],
  ])(
    "the only function word of a short query, of another language than English, is %s",
    (_, text, total) => {
      const contentOf = (i: number) => (i < 2 ? "quartz" : i < 5 ? "a man of clay" : text);
      const documents = Array.from({ length: 20 }, (_, i) =>
        documentOf(`${i}.md`, { content: contentOf(i) }),
      );
      expect(searchText(viewOf(documents), "man quartz").total).toBe(total);
    },
  );

  test("a rare function word of a question does not decide which documents are found", () => {
    const others = Array.from({ length: 20 }, (_, i) =>
      documentOf(`${i}.md`, { content: i < 2 ? "I write a diary" : "the weather of a place" }),
    );
    const wanted = documentOf("cards.md", { title: "Social cards", content: "cards for a site" });
    const queries = [
      "how do I add a social card",
      "comment est-ce que je peux ajouter des social cards",
      "cómo puedo añadir a mi sitio las social cards",
    ];
    for (const query of queries)
      expect(find(viewOf([...others, wanted]), query)[0]).toBe("cards.md");
  });
});

describe("matched fields", () => {
  test("matched fields are in the order path, title, headings, frontmatter (file order), content", () => {
    const view = viewOf([
      documentOf("lantern.md", {
        title: "The Lantern",
        headings: ["Other", "A lantern"],
        frontmatter: [
          { key: "zeta", value: "lantern" },
          { key: "none", value: "nothing" },
          { key: "alpha", value: "lanterns" },
        ],
        content: "lantern",
      }),
    ]);
    expect(searchText(view, "lantern").hits[0]?.matched_fields).toEqual([
      "path",
      "title",
      "headings",
      "frontmatter.zeta",
      "frontmatter.alpha",
      "content",
    ]);
  });
});

describe("scopes, shards, segments and pages", () => {
  const scene = fc.record({
    documents: someDocuments,
    query: words(4),
    deal: fc.array(fc.nat(3), { minLength: 24, maxLength: 24 }),
    hidden: fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }),
  });

  /** The scope by path, so that it does not depend on the distribution over segments. */
  function visiblePaths(documents: KnowledgeDocument[], hidden: boolean[]): Set<string> {
    return new Set(documents.filter((_, i) => !hidden[i]).map((document) => document.path));
  }

  test("the ranking does not depend on segments or on documents out of scope", () => {
    fc.assert(
      fc.property(scene, ({ documents, query, deal, hidden }) => {
        const shown = visiblePaths(documents, hidden);
        const alone = viewOf(documents.filter((document) => shown.has(document.path)));
        const dealt = dealtView(
          documents,
          (i) => deal[i] ?? 0,
          (path) => shown.has(path),
        );
        expect(visible(dealt, query)).toEqual(visible(alone, query));
      }),
    );
  });
});

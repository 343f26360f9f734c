import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as native from "../../../../native/text.ts";
import {
  addDocument,
  buildSegment,
  emptyDocumentSet,
  mergeSegments,
  SegmentReader,
} from "../../../../src/index/segments/index.ts";
import {
  contentsOf,
  MARK,
  POSTING_CODE_MASK,
  POSTING_DOCUMENT_SHIFT,
  type SegmentContents,
  sectionBytes,
  sectionsOf,
} from "../../../../support/segment-contents.ts";
import { byteOrder, documentOf, someDocuments } from "./documents.ts";

function copyOf(buffer: ArrayBufferLike): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer).slice();
}

describe("segments", () => {
  test("a segment returns its documents in byte order of path", () => {
    fc.assert(
      fc.property(someDocuments, (documents) => {
        const segment = contentsOf(buildSegment(documents));
        const stored = Array.from({ length: segment.documentCount }, (_, d) => ({
          id: segment.id(d),
          path: segment.path(d),
          title: segment.title(d),
          frontmatter: segment.frontmatter(d),
        }));
        const expected = [...documents]
          .sort((a, b) => byteOrder(a.path, b.path))
          .map(({ id, path, title, frontmatter }) => ({ id, path, title, frontmatter }));
        expect(stored).toEqual(expected);
      }),
    );
  });

  test("a segment can be empty", () => {
    const segment = new SegmentReader(buildSegment([]));
    expect(segment.documentCount).toBe(0);
    const { buffer } = mergeSegments([{ buffer: segment.buffer, keep: null }]);
    expect(new SegmentReader(buffer).documentCount).toBe(0);
  });

  test("a segment can be read from an ordinary buffer, as read from a file", () => {
    const bytes = copyOf(buildSegment([documentOf("a.md", { title: "Größe 検索" })]));
    expect(contentsOf(bytes.buffer).title(0)).toBe("Größe 検索");
  });

  test("merging segments gives the sections of one segment that is built at once", () => {
    const words = ["wick", "lantern", "getOil", "Öl", "検索", "running", "runs", "🚀"];
    const text = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((all) => all.join(" "));
    const entry = fc.record({
      title: text,
      content: text,
      value: text,
      part: fc.nat(3),
      kept: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 30 }), (entries) => {
        const documents = entries.map(({ title, content, value }, i) => {
          const frontmatter = [{ key: "tags", value }];
          return documentOf(`${i % 7}/${i}.md`, { title, content, frontmatter, headings: [title] });
        });
        const inputs = [0, 1, 2, 3].map((part) => {
          const own = documents.filter((_, i) => entries[i]?.part === part);
          const segment = contentsOf(buildSegment(own));
          const keep = emptyDocumentSet(own.length);
          for (let d = 0; d < own.length; d++) {
            const index = documents.findIndex(({ path }) => path === segment.path(d));
            if (entries[index]?.kept) addDocument(keep, d);
          }
          return { segment, buffer: segment.buffer, keep };
        });
        const kept = documents.filter((_, i) => entries[i]?.kept);
        const { buffer, numbers } = mergeSegments(inputs);
        if (kept.length > 0) expect(sectionBytes(buffer)).toEqual(sectionBytes(buildSegment(kept)));
        const merged = new SegmentReader(buffer);
        for (const [i, { segment }] of inputs.entries()) {
          for (const [d, number] of (numbers[i] as Int32Array).entries()) {
            if (number >= 0) expect(merged.id(number)).toBe(segment.id(d));
          }
        }
        expect(numbers.flatMap((each) => [...each]).filter((n) => n >= 0)).toHaveLength(
          kept.length,
        );
      }),
    );
  });

  test("the language of a document does not stem the words of those before it", () => {
    const documents = Object.entries({ de: "Öl", fr: "Ol" }).map(([value, content]) =>
      documentOf(`${value}.md`, { content, frontmatter: [{ key: "lang", value }] }),
    );
    const parts = documents.map((each) => ({ buffer: buildSegment([each]), keep: null }));
    expect(sectionBytes(buildSegment(documents))).toEqual(
      sectionBytes(mergeSegments(parts).buffer),
    );
  });

  test("merging keeps the first of two documents with the same id", () => {
    const parts = ["first", "second"].map((title) => buildSegment([documentOf("a.md", { title })]));
    const { buffer } = mergeSegments(parts.map((part) => ({ buffer: part, keep: null })));
    const merged = contentsOf(buffer);
    expect([merged.documentCount, merged.title(0)]).toEqual([1, "first"]);
  });
});

describe("the sections of a segment", () => {
  const termsOf = ({ tokens, tokenStart }: SegmentContents, document: number) =>
    tokens.subarray(tokenStart[document], tokenStart[document + 1]).filter((token) => token < MARK);

  test("the postings of a term are the documents that hold it, in their order", () => {
    fc.assert(
      fc.property(someDocuments, (documents) => {
        const segment = contentsOf(buildSegment(documents));
        const held = segment.terms().map((): number[] => []);
        for (let d = 0; d < segment.documentCount; d++) {
          for (const term of new Set(termsOf(segment, d))) held[term]?.push(d);
        }
        const { postings, postingStart } = segment;
        const found = held.map((_, term) => [
          ...postings.subarray(postingStart[term], postingStart[term + 1]),
        ]);
        expect(found.map((own) => own.map((each) => each >>> POSTING_DOCUMENT_SHIFT))).toEqual(
          held,
        );
        expect(postings.every((each) => (each & POSTING_CODE_MASK) > 0)).toBe(true);
      }),
    );
  });

  test("a form has the number of documents of its language that hold its term", () => {
    const documents = ["de", "de", "fr"].map((value, i) =>
      documentOf(`${i}.md`, { content: "lampe", frontmatter: [{ key: "lang", value }] }),
    );
    const segment = contentsOf(buildSegment(documents));
    const { stemStart, stemTerms, stemCounts } = segment;
    const lamp = segment.terms().indexOf("lampe");
    const counts = native.stemLanguages.flatMap((language, l) => {
      const own = stemTerms.subarray(stemStart[l], stemStart[l + 1]).indexOf(lamp);
      return own < 0 ? [] : [[language, stemCounts[(stemStart[l] as number) + own]]];
    });
    expect(Object.fromEntries(counts)).toEqual({ de: 2, fr: 1 });
  });

  test("the terms are sorted by code unit, forwards and reversed", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "é", "я", "ﬁ", "検"), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), (words) => {
        const segment = contentsOf(
          buildSegment([documentOf("a.md", { content: words.join(" ") })]),
        );
        const terms = segment.terms();
        expect(terms).toEqual([...new Set(terms)].sort());
        const backwards = terms.map((term) => term.split("").toReversed().join(""));
        const order = [...segment.reversed].map((term) => backwards[term] as string);
        expect(order).toEqual(backwards.toSorted());
      }),
    );
  });

  test("the blocks of a content are its text with single spaces, and know their first tokens", () => {
    const content = "Lamps  burn\n\noil, wick and 検索データ. ".repeat(400);
    const segment = contentsOf(buildSegment([documentOf("a.md", { content })]));
    const blocks = segment.blocksOf(0);
    expect(blocks.length).toBeGreaterThan(5);
    expect(blocks.map(({ text }) => text).join(" ")).toBe(content.replace(/\s+/g, " ").trim());
    const tokensIn = (text: string) =>
      termsOf(contentsOf(buildSegment([documentOf("", { content: text })])), 0).length;
    let tokens = 0;
    for (const { firstToken, text } of blocks) {
      expect(firstToken).toBe(tokens);
      tokens += tokensIn(text);
    }
    expect(segment.lengths[0]).toBe(tokens);
  });

  test("no pair of surrogates is cut, and one without its other half is replaced", () => {
    const [long, half] = [`a${"😀".repeat(3_000)}`, "a\ud800b"].map((content) =>
      contentsOf(buildSegment([documentOf("a.md", { content })])).blocksOf(0),
    );
    expect(long?.map(({ text }) => text).join("")).toBe(`a${"😀".repeat(3_000)}`);
    expect(half?.map(({ text }) => text)).toEqual(["a\ufffdb"]);
  });

  test("a joined pictograph of any number of parts is as many tokens, and each is read once", () => {
    const title = `a${"👩\u200d".repeat(100_000)}`;
    const segment = contentsOf(buildSegment([documentOf("", { title })]));
    expect(segment.terms()).toEqual(["a", "👩"]);
    expect(termsOf(segment, 0)).toHaveLength(100_001);
    expect(segment.stemTerms).toHaveLength(1);
  });

  test("a segment has the same bytes in all versions of its format", () => {
    const documents = [
      documentOf("guide/Größe.html.md", {
        title: "getStaticProps and HTTPServer2",
        headings: ["U.S.A., 24,500 and up-to-date", "?. => 検索"],
        frontmatter: [
          { key: "description", value: "Running lamps\u0001 \ud800" },
          { key: "LANG", value: "de" },
        ],
        content: "Die Häuser und Gärten, naïve café. ".repeat(90),
      }),
      documentOf("b.md", { id: "2", title: "C++ .NET --dry-run 1.2.3" }),
      documentOf("b.md", { id: "1", content: "Все настройки находятся в файле العربية हिन्दी" }),
      documentOf("検索.MDX", { content: "データベースを検索する 😀 e\u0301" }),
    ];
    const { texts: _, ...sections } = sectionsOf(buildSegment(documents));
    const sums = Object.entries(sections).map(([name, { buffer, byteOffset, byteLength }]) => [
      name,
      Bun.hash.crc32(new Uint8Array(buffer, byteOffset, byteLength)),
    ]);
    expect(Object.fromEntries(sums)).toMatchInlineSnapshot(`
      {
        "blockStart": 1005967047,
        "blocks": 1639493207,
        "languages": 4035339349,
        "lengths": 1604542128,
        "pathHashes": 1205057966,
        "postingStart": 1207449838,
        "postings": 1569360465,
        "reversed": 1135622117,
        "stemCounts": 2587198935,
        "stemKeys": 715158196,
        "stemStart": 1033605239,
        "stemTerms": 2824495733,
        "stringStart": 2293726883,
        "strings": 520809448,
        "termChars": 41117689,
        "termStart": 4002130975,
        "tokenStart": 4249903900,
        "tokens": 3175230937,
      }
    `);
  });

  test("a merge refuses a segment whose numbers are out of range", () => {
    const documents = ["a.md", "b.md"].map((path) =>
      documentOf(path, {
        title: "running lamps",
        frontmatter: [{ key: "k", value: "v" }],
        content: "some words",
      }),
    );
    const good = buildSegment(documents);
    const read = Object.keys(sectionsOf(good)).filter(
      (name) =>
        !["strings", "termChars", "texts", "reversed", "stemKeys", "stemCounts"].includes(name),
    );
    const refused = read.filter((name) => {
      const buffer = copyOf(good).buffer;
      const section = sectionsOf(buffer)[name as keyof ReturnType<typeof sectionsOf>];
      section.fill(0x7fffffff);
      try {
        mergeSegments([{ buffer, keep: null }]);
        return false;
      } catch {
        return true;
      }
    });
    // The lengths of contents and the hashes of paths are not used as positions.
    expect(read.filter((name) => !refused.includes(name))).toEqual(["lengths", "pathHashes"]);
  });
});

describe("arguments of a wrong shape throw a TypeError", () => {
  const memory = (bytes: number) => new Uint8Array(bytes);
  const bytes = new Uint8Array(buildSegment([documentOf("a.md")]));

  test.each<[string, unknown[]]>([
    ["no documents", [undefined, memory]],
    ["a document that is no object", [["a.md"], memory]],
    ["a title of another type", [[{ ...documentOf("a.md"), title: 7 }], memory]],
    ["headings of another type", [[{ ...documentOf("a.md"), headings: "a" }], memory]],
    [
      "an entry without a value",
      [[{ ...documentOf("a.md"), frontmatter: [{ key: "a" }] }], memory],
    ],
    ["no memory", [[], undefined]],
    ["memory of another type", [[], (size: number) => new Uint16Array(size)]],
  ])("building with %s", (_, args) => {
    expect(() => (native.buildSegment as (...all: unknown[]) => void)(...args)).toThrow(TypeError);
  });

  test.each<[string, unknown[]]>([
    ["no segments", [undefined, [], memory]],
    ["no documents", [[bytes], undefined, memory]],
    ["a segment that is cut off", [[bytes.slice(0, 96)], [null], memory]],
    ["documents of another type", [[bytes], [[1]], memory]],
    ["no memory", [[bytes], [null], undefined]],
  ])("merging with %s", (_, args) => {
    expect(() => (native.mergeSegments as (...all: unknown[]) => void)(...args)).toThrow(TypeError);
  });

  test("memory of another size is refused, and the error of the function that gives it is thrown", () => {
    expect(() => native.buildSegment([], () => new Uint8Array(8))).toThrow(
      "the size of the segment",
    );
    const broken = () => {
      throw new RangeError("broken");
    };
    expect(() => native.buildSegment([], broken)).toThrow("broken");
  });
});

const hashesOf = (paths: readonly string[]): number[] => {
  const segment = contentsOf(buildSegment(paths.map((path) => documentOf(path))));
  return paths.map((path) => {
    const document = paths.findIndex((_, d) => segment.path(d) === path);
    return segment.pathHashes[document] as number;
  });
};

describe("path hashes", () => {
  test("the hash of a path never changes, because shards depend on it", () => {
    expect(hashesOf(["", "a.md", "guide/backups.md", "検索/🚀.md"])).toEqual([
      2872998923, 3780330715, 3424692747, 1228201111,
    ]);
  });

  test("path hashes spread paths evenly over shards", () => {
    const shards = new Array<number>(8).fill(0);
    const paths = Array.from({ length: 8_000 }, (_, i) => documentOf(`docs/page-${i}.md`));
    for (const hash of contentsOf(buildSegment(paths)).pathHashes) {
      shards[hash % 8] = (shards[hash % 8] as number) + 1;
    }
    for (const size of shards) expect(Math.abs(size - 1_000)).toBeLessThan(150);
  });
});

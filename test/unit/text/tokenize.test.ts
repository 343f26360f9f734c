import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { WORD_MAX_CHARS } from "../../../src/shared/limits.ts";
import { identifiersIn, subwordsOf } from "../../../src/text/analysis/tokenize.ts";
import { stem, tokenize } from "../../../src/text/index.ts";

describe("tokens", () => {
  test("tokens are folded runs of letters and digits", () => {
    expect(tokenize("Don't panic: v1.4.0, snake_case & Ünïcode—ＦＵＬＬ ﬁle")).toEqual(
      "don t panic v1 4 0 snake case unicode full file".split(" "),
    );
  });

  test("unspaced scripts are split into bigrams and the last character", () => {
    expect(tokenize("東京都 tower")).toEqual(["東京", "京都", "都", "tower"]);
    expect(tokenize("한국어")).toEqual(["한국", "국어", "어"]);
  });

  test("folding keeps Japanese voicing marks and other alphabets", () => {
    expect(tokenize("が か")).toEqual(["が", "か"]);
    expect(tokenize("Ёлка ΣΊΣΥΦΟΣ")).toEqual(["елка", "σισυφος"]);
  });

  test("the ASCII path and the Unicode path give the same tokens", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (text) => {
        const mixed = tokenize(`${text} ü`);
        expect(mixed).toEqual([...tokenize(text), "u"]);
      }),
    );
  });

  test("characters that are folded one by one give the tokens of text that is normalised as a whole", () => {
    // With a combining mark, the text up to the next space is normalised as a whole.
    const prefix = "x\u0337。";
    const unit = fc.oneof(
      fc.integer({ min: 0xa1, max: 0xd7ff }).map((code) => String.fromCharCode(code)),
      fc.constantFrom(..."aZ9éÅßøØĳѣЖΣσ北京かがカ한국ーｶ／。½²ªİ"),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), (units) => {
        const text = units.join("");
        expect(tokenize(text)).toEqual(tokenize(prefix + text).slice(1));
      }),
    );
  });

  test("tokens are of bounded length and never empty", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        for (const word of tokenize(text)) {
          expect(word.length).toBeGreaterThan(0);
          expect(word.length).toBeLessThanOrEqual(WORD_MAX_CHARS);
        }
      }),
    );
    expect(tokenize("a".repeat(1_000))).toEqual(["a".repeat(WORD_MAX_CHARS)]);
  });
});

describe("subwords of identifiers", () => {
  test("identifiers are split where the case changes", () => {
    const identifiers = identifiersIn("call getStaticProps, HTTPServer or parseXML2 but not Words");
    expect(identifiers.map(subwordsOf)).toEqual([
      ["get", "Static", "Props"],
      ["HTTP", "Server"],
      ["parse", "XML", "2"],
    ]);
    expect(identifiersIn("plain words only")).toEqual([]);
  });
});

describe("stems", () => {
  test("all forms of a word have one stem", () => {
    const families = [
      "cache caches cached caching",
      "configure configures configured configuring configuration",
      "query queries queried querying",
      "index indexes indexed indexing",
      "box boxes boxed boxing",
      "stop stops stopped stopping",
      "organise organize organised organizing organization organisation",
      "translate translates translated translating translation",
      "page pages paged paging",
      "render renders rendered rendering renderer",
      "filter filters filtered filtering",
      "install installs installed installing installation",
    ];
    for (const family of families) {
      expect(new Set(family.split(" ").map(stem)).size).toBe(1);
    }
  });

  test("different words have different stems", () => {
    for (const [a, b] of [
      ["thing", "think"],
      ["string", "strange"],
      ["class", "clash"],
      ["status", "state"],
      ["analysis", "analog"],
    ] as const) {
      expect(stem(a)).not.toBe(stem(b));
    }
  });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { analyseQuery } from "../../../../native/testing.ts";
import { spellingSpans, tokenize } from "../../../../native/words.ts";
import { WORD_MAX_CHARS } from "../../../../src/domain/limits.ts";

const spellingsIn = (text: string) => spellingSpans(text).map(({ token }) => token);

describe("tokens", () => {
  test("tokens are folded runs of letters and digits", () => {
    expect(tokenize("Don't panic: v1.4.0, snake_case & Ünïcode—ＦＵＬＬ ﬁle")).toEqual(
      "don t panic v1 4 0 1.4.0 snake case unicode full file".split(" "),
    );
  });

  test("unspaced scripts are split into bigrams and the last character", () => {
    expect(tokenize("東京都 tower")).toEqual(["东京", "京都", "都", "tower"]);
    expect(tokenize("한국어")).toEqual(["한국", "국어", "어"]);
  });

  test("folding keeps Japanese voicing marks and other alphabets", () => {
    expect(tokenize("が か")).toEqual(["が", "か"]);
    expect(tokenize("Ёлка ΣΊΣΥΦΟΣ")).toEqual(["елка", "σισυφοσ"]);
  });

  test("marks, signs and forms of letters that searchers do without are not compared", () => {
    for (const [text, tokens] of [
      ["Java™ ©Acme ①② ⒜ 1️⃣ ½ ℹ️Q", "java acme q"],
      ["H₂O m² ㎞ Ⅳ ﬁﬁ ﷼", "h2o m2 km iv fifi"],
      ["🇩🇪 👩‍💻 ✔️", "🇩🇪 👩 💻 ✔"],
      ["Straße Ørsted İstanbul ıŞIK ŐŰ ĳ", "strasse orsted istanbul isik ou ij"],
      ["السَّلامُ كتـــاب أحمد إلى مكتبة علی کتاب", "السلام كتاب احمد الي مكتبه علي كتاب"],
      ['שָׁלוֹם צה״ל צה"ל ״מילה״ ג׳ירפה', "שלום צהל צהל מילה גירפה"],
      ["٣٤٥ ५ ３", "345 5 3"],
      ["soft\u00adware zero\u200bwidth می\u200cخواهم", "software zerowidth ميخواهم"],
      ["हिन्दी क्षेत्र", "हिन्दी क्षेत्र"],
      ["ज़रूरत पढ\u093cना", "जरूरत पढना"],
      ["пʼять Hawaiʻi Qurʾan", "п ять hawai i qur an"],
    ] as const) {
      expect([text, tokenize(text)]).toEqual([text, tokens.split(" ")]);
    }
  });

  test("half-width kana, decomposed Hangul and Thai are pairs of whole characters", () => {
    expect(tokenize("ｶﾞﾝﾀﾞﾑ")).toEqual(tokenize("ガンダム"));
    expect(tokenize("한국어".normalize("NFD"))).toEqual(tokenize("한국어"));
    expect(tokenize("ที่อยู่")).toEqual(["ที่อ", "อยู่", "ยู่"]);
  });

  test("names with symbols are tokens behind those of their words", () => {
    for (const [text, tokens] of [
      ["C++, C# and F#", "c c++ c c# and f f#"],
      ["C++20 i++ a+b C+ #x page#part", "c c++ 20 i i++ a b c x page part"],
      [
        ".NET (.gitignore) end.Next f().x ...more",
        "net .net gitignore .gitignore end next f x more",
      ],
      ["--dry-run -v -long a-b x--y", "dry run --dry-run v -v long a b x y"],
      [
        "@scope/name. me@example.com @Entity",
        "scope name @scope/name me example com entity @entity",
      ],
      ["v1.2.3 127.0.0.1 x86.64", "v1 2 3 1.2.3 127 0 0 1 127.0.0.1 x86 64"],
      ["用C++写 在.NET里", "用 c c++ 写 在 net 里 .net"],
    ] as const) {
      expect([text, tokenize(text)]).toEqual([text, tokens.split(" ")]);
    }
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
    // A longer name does not make a token, and the last character of a token is whole.
    const short = "a".repeat(WORD_MAX_CHARS - 1);
    expect([`${short}++`, `${short}𐐨`].map(tokenize)).toEqual([[short], [short]]);
  });
});

test("numbers, abbreviations and telephone numbers have a spelling as one word", () => {
  for (const [text, joined] of [
    ["24,500 and 1,234,567.5", "24500 1234567"],
    ["1,23 or 12,3456 or 1, 200 or 1.5", ""],
    ["U.S.A. or U.S. or e.g. this, but a.b", "usa us eg"],
    ["AT&T, R&D, a&b", "att rd"],
    ["+49 30 1234567, +49-(30) 12345-67, +1 2", "49301234567 49301234567"],
    ["0x80070ABC 0x1F x0x80070ABC", "80070abc"],
    ["24 500, 24'500, 1.000.000, 12 30, 1234 500", "24500 24500 1000000"],
    ["max_pool_gates up-to-date 2024-10-05", "maxpoolgates uptodate 20241005"],
    ["one-two-three-four a-b-c-d-e-f-g", "onetwothreefour"],
    ["re-use on-line T-shirt well-known a-b", "reuse online tshirt"],
    ["Qur'an Xi’an Shi'a don't user's we'll l'an qu'on a'if jusqu'à o'clock", "quran xian shia"],
  ] as const) {
    expect([text, spellingsIn(text)]).toEqual([text, joined.split(" ").filter(Boolean)]);
  }
});

test("two or three signs together are signs of a text, and longer lines of them are none", () => {
  expect(spellingsIn("a?.b => c ??= d && e, f = g; |---| x !== y // z")).toEqual(
    "?. => ??= && !== //".split(" "),
  );
});

/** Each word of a query with spaces between its parts, and the words that are identifiers. */
function partsIn(query: string): { parts: string[]; identifiers: string[] } {
  const { words } = analyseQuery(query);
  const startsPart = (bits: number, i: number) => ((bits >>> i) & 1) === 1;
  return {
    parts: words.map(({ text, parts }) =>
      [...text].map((letter, i) => (startsPart(parts, i) ? ` ${letter}` : letter)).join(""),
    ),
    identifiers: words.filter(({ isIdentifier }) => isIdentifier).map(({ text }) => text),
  };
}

describe("subwords of identifiers", () => {
  test("identifiers are split where the case changes", () => {
    expect(partsIn("call getStaticProps, HTTPServer or parseXML2 but not Words")).toEqual({
      parts: "call,get static props,http server,or,parse xml 2,but,not,words".split(","),
      identifiers: ["getstaticprops", "httpserver", "parsexml2"],
    });
  });

  test("letters with a number are split, too, but are not identifiers", () => {
    expect(partsIn("utf8 E0938 x86")).toEqual({
      parts: ["utf 8", "e 0938", "x 86"],
      identifiers: [],
    });
  });
});

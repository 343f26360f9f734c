import { expect, test } from "bun:test";
import fc from "fast-check";
import { type TokenSpan, tokenize, tokenSpans } from "../../../../native/words.ts";
import { searchText } from "../../../../support/text-search.ts";
import { documentOf, viewOf } from "./documents.ts";

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Where characters of a text start, and its end. */
function boundariesOf(text: string): Set<number> {
  const characters = [...segmenter.segment(text)];
  return new Set([0, ...characters.map(({ segment, index }) => index + segment.length)]);
}

/** The first letters of scripts, and how many of each are tried. */
const SCRIPTS = [
  ..."aÀАΑאءअঅಅกກཀကក각가あアｱ一ㄅА\u{1d400}\u{20000}",
  ..."\u0300\u0591\u064b\u093e\u094d\u0e31\u3099\uff9e\u20dd\ufe0e\u200b\u200d\u00ad①²™",
  ..."\u{1f1e6}\u{1f3fb}\u{1f468}❤☎",
].map((first) => first.codePointAt(0) as number);
const LETTERS_TRIED = 40;

const character = fc
  .tuple(fc.constantFrom(...SCRIPTS), fc.nat(LETTERS_TRIED))
  .map(([first, offset]) => String.fromCodePoint(first + offset));
const piece = fc.oneof(
  { weight: 8, arbitrary: character },
  { weight: 2, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 3 }) },
  fc.constantFrom(
    ...[" ", ". ", " C++ ", "C#", " .NET", " --dry-run ", " @scope/name", " v1.2.3", 'צה"ל', "ℹ️Q"],
    ...["👩‍💻", "🇩🇪", "क्ष", "ที่", "e\u0301", "각".normalize("NFD"), "ｶﾞ", "\r\n", "…", "—"],
  ),
);
/** Without what Markdown hides. */
const text = fc
  .array(piece, { minLength: 1, maxLength: 60 })
  .map((pieces) => pieces.join("").replace(/[[\]<>*`~|()!\\_]/g, " "));

test("every token of a text in any script is found and marked, by whole characters", () => {
  fc.assert(
    fc.property(text, fc.nat(), fc.nat(600), (own, position, before) => {
      const content = `${"lantern ".repeat(before)}${own}`;
      const spans = tokenSpans(own);
      if (spans.length === 0) return;
      const { start, end } = spans[position % spans.length] as TokenSpan;
      const query = own.slice(start, end);
      const { total, hits } = searchText(viewOf([documentOf("a.md", { content })]), query);
      expect([query, total]).toEqual([query, 1]);
      const snippet = hits[0]?.snippet;
      expect([query, snippet?.matches.length]).not.toEqual([query, 0]);
      const boundaries = boundariesOf(snippet?.text ?? "");
      for (const [first, last] of snippet?.matches ?? []) {
        expect(last).toBeGreaterThan(first);
        expect([query, snippet, boundaries.has(first), boundaries.has(last)]).toEqual([
          ...[query, snippet, true, true],
        ]);
      }
    }),
    { numRuns: 400 },
  );
});

test("what is compared of a text does not depend on how it is encoded", () => {
  fc.assert(
    fc.property(text, (letters) => {
      // Decomposed Hangul directly behind a name with symbols hides the name.
      const own = letters.replace(/(?<=[\w#+])(?=\p{sc=Hang})/gu, " ");
      expect(tokenize(own.normalize("NFD"))).toEqual(tokenize(own.normalize("NFC")));
    }),
    { numRuns: 400 },
  );
});

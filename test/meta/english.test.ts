import { expect, test } from "bun:test";
import { filesOf, textOf } from "./sources.ts";

const UNITS =
  "bytes?|vectors?|codes?|chunks?|ms|[KMG]i?B|(?:micro|milli)?seconds?|records?|rows?|requests?|" +
  "searches|versions?|transactions?|processes|connections?|indexe?s?|calls?";

/** Phrases that are not idiomatic English, with what to write instead. */
const PHRASES: ReadonlyArray<readonly [phrase: RegExp, instead: string]> = [
  [/\banew\b/, "again, or rebuild"],
  [/\bwhoever\b/, "name who it is"],
  [/\btrying on\b/, "retrying"],
  [/\bthat is none\b/, "a malformed, an unknown, a missing"],
  [/\bwhat is remembered\b/, "the cache, what is cached"],
  [/\bbehind the back\b/, "without, unnoticed by"],
  [/\bso long may\b/, "time limit for"],
  [/\bright where\b/, "where, at"],
  [/\bstands? in (?:files?|the|a|an|one)\b/, "is in"],
  [/\bgives? way\b/, "yields"],
  [/\btells? of\b/, "reports"],
  [new RegExp(`\\b(?:\\d[\\d.,]*|one) (?:${UNITS}) an? [a-z]+`), "per"],
  [/\b(?:CPU|ms|us) an? (?:query|request|search)\b/, "per"],
];

/** Applied migrations are compared with their files, so their comments stay as they are. */
const texts = filesOf(
  "*.md",
  "{docs,bench}/**/*.md",
  "{src,workers,native,bench,support,scripts}/**/*.{ts,tsx,js,cc,hpp,h,sh}",
);

/** The text on one line, without what begins the lines of a comment. */
function flowing(text: string): string {
  return text.replace(/^[ \t]*(?:\*|\/\/+|#+|>)?[ \t]*/gm, "").replace(/\s+/g, " ");
}

test("no text has a phrase that is known to be unidiomatic", () => {
  const found = texts.flatMap((file) => {
    const text = flowing(textOf(file));
    return PHRASES.flatMap(([phrase, instead]) => {
      const match = phrase.exec(text);
      return match ? [`${file}: "${match[0]}", better: ${instead}`] : [];
    });
  });
  expect(found).toEqual([]);
});

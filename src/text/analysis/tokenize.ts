import { eachToken } from "./run-tokens.ts";
import { eachWord, textOf, type WordSink } from "./words.ts";

/** The start and the end of a token in a text, in UTF-16 code units, and the token, one after another. */
type TokenSpans = Array<number | string>;

/**
 * The tokens of a text and their positions, the same way for documents and queries.
 *
 * Characters, as readers see them, are folded one by one (`folding.ts`). A token is a run of letters, digits and
 * their marks. In scripts that are written without spaces, every pair of neighbouring characters (bigram) is a
 * token, and so is the last character of a run, so that every single character is a prefix of some token.
 * Pictographs are tokens too, and so are names with symbols (`names.ts`), after those of their words.
 */
export function tokenSpans(text: string): TokenSpans {
  const spans: TokenSpans = [];
  eachWord(text, {
    ...NOTHING,
    ascii: (units, from, to, end) => spans.push(from, end, textOf(units, from, to)),
    other: (piece, offset) =>
      eachToken(piece, (units, from, to, start, end) =>
        spans.push(offset + start, offset + end, textOf(units, from, to)),
      ),
  });
  return spans;
}

const ignore = () => {};
const NOTHING: WordSink = {
  ...{ ascii: ignore, other: ignore, compound: ignore, joined: ignore, signs: ignore },
};

/** Splits text into tokens. */
export function tokenize(text: string): string[] {
  return tokenSpans(text).filter((each) => typeof each === "string");
}

/** The words in a text that have subwords: identifiers in mixed case, and letters with a number. */
export function compoundsIn(text: string): string[] {
  return text.match(COMPOUND) ?? [];
}

/** The subwords of an identifier: get, Static, Props; HTTP, Server; utf, 8. */
export function subwordsOf(identifier: string): string[] {
  return identifier.match(SUBWORD) ?? [];
}

// The patterns end with a repetition, so matching takes linear time.
const MIXED = "[A-Za-z][A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*";
const COMPOUND = new RegExp(`(?<![A-Za-z0-9])(?:${MIXED}|[A-Za-z]+[0-9]+(?![A-Za-z0-9]))`, "g");
const SUBWORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;

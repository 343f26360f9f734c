/** Words of texts: tokens and spellings, and the words of a dictionary. */
import { addon } from "./addon.ts";

/** A token and its place in a text, in UTF-16 code units, at boundaries of characters. */
export interface TokenSpan {
  readonly start: number;
  readonly end: number;
  readonly token: string;
}

/** Tokens with a space between each two, and the start and the end of each. */
interface Spans {
  readonly tokens: string;
  readonly places: Uint32Array;
}

/** The functions of the addon for words. */
interface Words {
  tokensInText(text: string): Spans;
  spellingsInText(text: string): Spans;
  /** The version of the tables by which words are read: that of Unicode, and a hash. */
  readonly wordTables: string;
}

const words = addon as Words;
export const { wordTables } = words;

const listed = ({ tokens }: Spans): string[] => (tokens === "" ? [] : tokens.split(" "));

const placed = (spans: Spans): TokenSpan[] =>
  listed(spans).map((token, i) => ({
    start: spans.places[2 * i] as number,
    end: spans.places[2 * i + 1] as number,
    token,
  }));

/** The tokens of a text and their places, the same way for documents and queries. */
export const tokenSpans = (text: string): TokenSpan[] => placed(words.tokensInText(text));

/**
 * Spellings and signs of a text in addition to its tokens: words in parts that other texts write as one (`24,500`,
 * `U.S.A.`), and signs that have a meaning together (`?.`, `=>`).
 */
export const spellingSpans = (text: string): TokenSpan[] => placed(words.spellingsInText(text));

/** Splits text into tokens. */
export const tokenize = (text: string): string[] => listed(words.tokensInText(text));

/** The script of a word selects the language of its segmentation. This language only decides on ties. */
const segmenter = new Intl.Segmenter("und", { granularity: "word" });

/**
 * Where a dictionary cuts a text in scripts without spaces: the end of each word and of the text between two, in UTF-16
 * code units, and 1 for a word or 0. Native code calls it for queries in such scripts.
 */
export function wordBreaks(text: string): Uint32Array {
  const segments = [...segmenter.segment(text)];
  return Uint32Array.from(
    segments.flatMap(({ segment, index, isWordLike }) => [
      index + segment.length,
      isWordLike === true ? 1 : 0,
    ]),
  );
}

/** Words of texts: tokens, spellings, surface forms and function words. */
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
  /** The surface form of a word, as stemmers read it: in lower case, composed, with its marks; "" if it is too long. */
  surfaceForm(word: string): string;
  /** Chinese text in simplified characters. */
  simplifiedOf(text: string): string;
  /** True if a token is of a script that is written without spaces between words. */
  isUnspaced(token: string): boolean;
  /** The identifiers in mixed case in a text, such as `getStaticProps` or `HTTPServer`. */
  identifiersIn(text: string): string[];
  /** The subwords of an identifier: get, Static, Props; HTTP, Server; utf, 8. */
  subwordsOf(identifier: string): string[];
  /** The function words of each language (ISO 639-1) as they are written, with spaces and line feeds between them. */
  readonly functionWords: Readonly<Record<string, string>>;
  /** The version of the tables by which words are read: that of Unicode, and a hash. */
  readonly wordTables: string;
}

const words = addon as Words;
export const { surfaceForm, simplifiedOf, isUnspaced, identifiersIn, subwordsOf } = words;
export const { functionWords, wordTables } = words;

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

/** The languages by token, which are read at the first query. */
let languages: ReadonlyMap<string, number> | undefined;

function readLanguages(): ReadonlyMap<string, number> {
  const read = new Map<string, number>();
  Object.values(functionWords).forEach((list, language) => {
    for (const token of tokenize(list)) read.set(token, (read.get(token) ?? 0) | (1 << language));
  });
  return read;
}

/** The languages in which a token is a function word: bit l for language l of `functionWords`. */
export function languagesOf(token: string): number {
  languages ??= readLanguages();
  return languages.get(token) ?? 0;
}

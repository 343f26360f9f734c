import { languagesOf } from "../analysis/function-words.ts";
import { identifiersIn, tokenize } from "../analysis/tokenize.ts";
import { parseQuery } from "./parse.ts";
import { ROLE } from "./unspaced-words.ts";

/** Shorter words match exactly only. */
const FUZZY_MIN_CHARS = 4;

/** The words of a query as native code reads them; see `lookUpText`. */
interface AnalysedQuery {
  /** The texts of the words, one after another. */
  readonly words: string;
  /** How the words are written, where that differs from their texts, one after another. */
  readonly raws: string;
  /** Per word its length, how often it is in the query, what is true of it, where it is a function word, and the length of
   * how it is written. */
  readonly numbers: Uint32Array;
}

const FLAG = {
  ...{ prefix: 1, mayBeMisspelt: 2, identifier: 4 },
  ...{ chance: 8, joint: 16, character: 32 },
} as const;

/** Finds out what is known of the words of a query without looking at any document. */
export function analyseQuery(query: string): AnalysedQuery {
  const words = parseQuery(query);
  const identifiers = new Set(identifiersIn(query).flatMap(tokenize));
  const numbers = new Uint32Array(words.length * 5);
  const raws = words.map(({ text, raw }) => (raw === text ? "" : raw));
  words.forEach(({ text, count, isPrefix, isCharacter, role }, i) => {
    const flags =
      (isPrefix ? FLAG.prefix : 0) |
      (countLetters(text) >= FUZZY_MIN_CHARS ? FLAG.mayBeMisspelt : 0) |
      (identifiers.has(text) ? FLAG.identifier : 0) |
      (role === ROLE.content ? 0 : FLAG.chance) |
      (role === ROLE.joint ? FLAG.joint : 0) |
      (isCharacter ? FLAG.character : 0);
    numbers.set([text.length, count, flags, languagesOf(text), (raws[i] as string).length], i * 5);
  });
  return { words: words.map((word) => word.text).join(""), raws: raws.join(""), numbers };
}

/** Digits do not count: a number with a wrong digit is another number, not a typo. */
function countLetters(word: string): number {
  return word.match(/\p{L}/gu)?.length ?? 0;
}

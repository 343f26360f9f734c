import { identifiersIn, languagesOf, tokenize } from "../../../native/words.ts";
import { parseQuery } from "./parse.ts";

/** Shorter words match exactly only. */
const FUZZY_MIN_CHARS = 4;

/** The words of a query as native code reads them; see `lookUpText`. */
interface AnalysedQuery {
  /** The texts of the words, one after another. */
  readonly words: string;
  /** The surface forms of words that differ from their texts, one after another. */
  readonly raws: string;
  /**
   * Per word its length, its number of occurrences in the query, its flags, the languages in which it is a function
   * word, the length of its surface form, and the positions at which texts may write it apart.
   */
  readonly numbers: Uint32Array;
  /** The joined spellings of words, one after another. */
  readonly joined: string;
  /** Per joined spelling the first and the last of its words, and its length. */
  readonly joints: Uint32Array;
}

const WORD_NUMBERS = 8;
const FLAG = {
  ...{ prefix: 1, mayBeMisspelt: 2, identifier: 4 },
  ...{ chance: 8, character: 16 },
} as const;

/** Analyses the words of a query, as far as that does not depend on documents. */
export function analyseQuery(query: string): AnalysedQuery {
  const { words, joined } = parseQuery(query);
  const identifiers = new Set(identifiersIn(query).flatMap(tokenize));
  const numbers = new Uint32Array(words.length * WORD_NUMBERS);
  const raws = words.map(({ text, raw }) => (raw === text ? "" : raw));
  words.forEach(({ text, count, isPrefix, isCharacter, isChance, cuts }, i) => {
    const flags =
      (isPrefix ? FLAG.prefix : 0) |
      (countLetters(text) >= FUZZY_MIN_CHARS ? FLAG.mayBeMisspelt : 0) |
      (identifiers.has(text) ? FLAG.identifier : 0) |
      (isChance ? FLAG.chance : 0) |
      (isCharacter ? FLAG.character : 0);
    const rawLength = (raws[i] as string).length;
    const own = [text.length, count, flags, languagesOf(text), rawLength];
    numbers.set([...own, cuts.pairs, cuts.englishPairs, cuts.parts], i * WORD_NUMBERS);
  });
  return {
    ...{ words: words.map((word) => word.text).join(""), raws: raws.join(""), numbers },
    joined: joined.map(({ text }) => text).join(""),
    joints: Uint32Array.from(joined.flatMap(({ first, last, text }) => [first, last, text.length])),
  };
}

/** The number of letters. Digits do not count, because a number with a wrong digit is another number, not a typo. */
function countLetters(word: string): number {
  return word.match(/\p{L}/gu)?.length ?? 0;
}

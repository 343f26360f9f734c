import {
  isUnspaced,
  spellingSpans,
  surfaceForm,
  tokenize,
  tokenSpans,
} from "../../../native/words.ts";
import { countCharacters } from "./characters.ts";
import { type Cuts, cutsOf, type JoinedSpelling, joinedSpellings, NO_CUTS } from "./spellings.ts";
import { UnspacedWords } from "./unspaced-words.ts";

interface ParsedWord {
  text: string;
  /** The surface form, with the marks that tokens lack. */
  raw: string;
  /** True if the word may be unfinished, so that longer words that begin with it match as well. */
  isPrefix: boolean;
  /** True for one character of a script without spaces. It matches pairs of characters that begin with it. */
  isCharacter: boolean;
  /** The number of occurrences in the query. A word that a question names twice weighs twice. */
  count: number;
  /** True for characters of a script without spaces that are neighbours by chance. */
  isChance: boolean;
  /** The positions at which texts may write the word apart. */
  cuts: Cuts;
}

interface ParsedQuery {
  /** The distinct words in the order in which they first occur. */
  readonly words: readonly ParsedWord[];
  /** Joined spellings of successive words. */
  readonly joined: readonly JoinedSpelling[];
}

export function parseQuery(query: string): ParsedQuery {
  const words = new Map<string, ParsedWord>();
  const tokens = tokensOf(query);
  tokens.forEach(({ text, raw, isChance, isSingle, cuts }, i) => {
    const word = words.get(text) ?? {
      text,
      raw,
      isPrefix: false,
      isCharacter: isSingle,
      count: 0,
      isChance,
      cuts: words.size < CUT_WORDS_MAX ? cuts() : NO_CUTS,
    };
    words.set(text, word);
    word.count++;
    word.isChance &&= isChance;
    if (i === tokens.length - 1 && !isSingle) word.isPrefix = true;
  });
  return { words: [...words.values()], joined: joinedSpellings(query, tokens, [...words.keys()]) };
}

/** A query names few things. Looking for words that are written apart reads whole texts. */
const CUT_WORDS_MAX = 16;

interface Token {
  readonly text: string;
  readonly raw: string;
  readonly isChance: boolean;
  /** True for one character of a script without spaces. */
  readonly isSingle: boolean;
  /** The position in the query. */
  readonly start: number;
  readonly end: number;
  readonly cuts: () => Cuts;
}

const uncut = () => NO_CUTS;

function tokensOf(query: string): Token[] {
  const spans = tokenSpans(query);
  if (spans.length === 0) return signTokensOf(query);
  const tokens: Token[] = [];
  let unspaced: UnspacedWords | undefined;
  let previous = "";
  for (const { start, end, token: text } of spans) {
    const before = previous;
    previous = text;
    if (!isUnspaced(text)) {
      const written = query.slice(start, end);
      const raw = written === text ? text : surfaceForm(written);
      const cuts = () => cutsOf(text, written);
      tokens.push({ text, raw, isChance: false, isSingle: false, start, end, cuts });
      continue;
    }
    unspaced ??= new UnspacedWords(query);
    const lone = unspaced.loneWordAt(start);
    if (lone !== undefined) {
      const [own] = tokenize(query.slice(lone.start, lone.end));
      if (own !== undefined)
        tokens.push({
          ...{ text: own, raw: own, isChance: false, isSingle: true },
          ...{ start, end, cuts: uncut },
        });
    }
    const isSingle = countCharacters(text) === 1;
    // The last token of an unspaced run repeats the second character of the pair before it.
    if (isSingle && (lone !== undefined || isTailOf(before, text))) continue;
    const isChance = unspaced.isChance(start, end);
    tokens.push({ text, raw: text, isChance, isSingle, start, end, cuts: uncut });
  }
  return tokens;
}

/** The signs of a query without words. */
function signTokensOf(query: string): Token[] {
  return spellingSpans(query).map(({ token: text }) => ({
    ...{ text, raw: text, isChance: false, isSingle: false },
    ...{ start: 0, end: 0, cuts: uncut },
  }));
}

function isTailOf(pair: string, character: string): boolean {
  return isUnspaced(pair) && pair.endsWith(character);
}

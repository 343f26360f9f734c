/** Plans a query as native code does, without haste. */
import { type AnalysedWord, analyseQuery } from "../../../native/testing.ts";
import {
  type PlannedWord,
  planWord,
  sum,
  type Term,
  type TermMatch,
  type Vocabulary,
  withJoined,
} from "./plan-word.ts";
import * as weights from "./weights.ts";

export interface QueryWord extends Omit<PlannedWord, "frequency" | "parts" | "isHeld"> {
  /** Of this word and the selective word before it. */
  readonly pair: Pair | null;
  readonly weight: number;
  readonly selective: boolean;
}

interface Pair {
  /** The place of the word before. */
  readonly before: number;
  readonly weight: number;
  /** How many words are between. */
  readonly gap: number;
}

/** Words that documents write as one. */
interface Joined {
  /** Their places in the query. */
  readonly words: readonly number[];
  readonly terms: readonly Term[];
}

export interface QueryPlan {
  readonly words: readonly QueryWord[];
  readonly joined: readonly Joined[];
  readonly maxScore: number;
  /** What the words that no document holds would add to it. */
  readonly missingScore: number;
  /** Of all pairs, also with words that no document holds. */
  readonly pairWeight: number;
  readonly averageLength: number;
}

/** The function words of the language that has most of them; of several the one that has most in the text. */
function functionWordsOf(words: readonly KnownWord[], documents: number): ReadonlySet<KnownWord> {
  const languages = Array.from({ length: 32 }, (_, language) =>
    words.filter(({ functionalIn }) => (functionalIn >>> language) & 1),
  );
  const held = (own: readonly KnownWord[]) => sum(own.map(({ planned }) => planned.frequency));
  const [best = []] = languages.toSorted((a, b) => b.length - a.length || held(b) - held(a));
  const isCertain = words.length > weights.LONG_QUERY_WORDS || best.length > 1;
  const least = isCertain ? 0 : weights.FUNCTION_WORD_MIN_SHARE * documents;
  const common = best.filter(({ planned }) => planned.frequency >= least);
  return new Set([...common, ...words.filter(({ isChance }) => isChance)]);
}

interface KnownWord extends AnalysedWord {
  readonly planned: PlannedWord;
  /** How much a part of a compound counts. */
  readonly share?: number;
}

/** The properties of a part of a compound, which is a whole word. */
const WHOLE = {
  isPrefix: false,
  isCharacter: false,
  isChance: false,
  isIdentifier: false,
  pairs: 0,
  englishPairs: 0,
  parts: 0,
};

/** For each word itself and, if it is a compound, its parts, unless they are in the query. */
function withParts(
  words: readonly KnownWord[],
  vocabulary: Vocabulary,
  typed: boolean,
): KnownWord[][] {
  const seen = new Set(words.map(({ text }) => text));
  return words.map((word) => {
    const parts = word.planned.parts.filter((text) => !seen.has(text));
    for (const text of parts) seen.add(text);
    const share = word.planned.isHeld ? weights.COMPOUND_PART_SHARE : 1;
    const own = [...new Set(parts)].map((text) => {
      const part = { ...word, text, raw: text, ...WHOLE, share };
      return { ...part, planned: planWord(part, vocabulary, typed, true) };
    });
    return [word, ...own];
  });
}

function scaled(planned: PlannedWord, factor: number, selective: boolean): Omit<QueryWord, "pair"> {
  const covers = (matches: readonly TermMatch[]) =>
    matches.map((match) => ({ ...match, coverage: match.coverage * (planned.idf * factor) }));
  return {
    idf: planned.idf,
    weight: planned.idf * factor,
    selective,
    formWeight: planned.formWeight * factor,
    exactWeight: planned.exactWeight * factor,
    otherWeight: planned.otherWeight * factor,
    forms: planned.forms.map(covers),
    others: planned.others.map(covers),
    apart: planned.apart,
  };
}

/** Words that make pairs with their neighbours, in the order of the query; `word` is absent where no document holds it. */
type Paired = { readonly idf: number; readonly selective: boolean; readonly word?: number };

/** The pair of each word with the selective word before it, and the weight of all pairs. */
function pairsOf(placed: readonly Paired[]) {
  const pairs = new Map<number, Pair>();
  let [total, gap] = [0, 0];
  let before: Paired | undefined;
  for (const each of placed) {
    if (!each.selective) {
      gap++;
      continue;
    }
    const weight = Math.min(before?.idf ?? 0, each.idf);
    total += weight;
    if (before?.word !== undefined && each.word !== undefined && weight > 0) {
      pairs.set(each.word, { before: before.word, weight, gap });
    }
    before = each;
    gap = 0;
  }
  return { pairs, total };
}

/** @param typed whether the query may still be typed, as that of a lookup; that of a retrieval is whole */
export function planByReference(vocabulary: Vocabulary, query: string, typed = true): QueryPlan {
  const { documents, averageLength } = vocabulary;
  const { words: distinct, joined: spellings } = analyseQuery(query);
  const joined = spellings
    .map(({ first, last, text }) => ({ first, last, terms: vocabulary.formsOf(text, text) }))
    .filter(({ terms }) => terms.length > 0);
  const parsed = distinct.map((word, i) => {
    const own = joined.filter(({ first, last }) => i >= first && i <= last);
    const planned = planWord(word, vocabulary, typed);
    return {
      ...word,
      planned: own.reduce((each, { terms }) => withJoined(each, terms, documents), planned),
    };
  });
  const functional = functionWordsOf(parsed, documents);
  const isKnown = ({ planned }: KnownWord) => planned.frequency > 0;
  const own = withParts(parsed, vocabulary, typed);
  const known = own.flat().filter(isKnown);
  const missing = own.flatMap((words) => {
    const [word] = words as [KnownWord];
    if (words.some(isKnown)) return [];
    const mayBeFunctional = word.functionalIn !== 0 || word.isChance;
    const share = mayBeFunctional ? weights.FUNCTION_WORD_SHARE : 1;
    return [word.count * share * Math.log(2 * documents + 2)];
  });
  const hasContent = known.some((word) => !functional.has(word));
  const rare = Math.max(1, documents * weights.IDENTIFIER_MAX_SHARE);
  const isLong = parsed.length > weights.LONG_QUERY_WORDS;
  const found = known.map((word) => {
    const selective = !hasContent || !functional.has(word);
    const isRare = isLong && word.isIdentifier && word.planned.frequency <= rare;
    const share = selective ? 1 : weights.FUNCTION_WORD_SHARE;
    const factor = word.count * (word.share ?? 1) * (isRare ? weights.IDENTIFIER_SHARE : share);
    return scaled(word.planned, factor, selective);
  });
  const missingIdf = Math.log(2 * documents + 2);
  const placed = own.flatMap((each): Paired[] => {
    const held = each.filter(isKnown);
    const [word] = each as [KnownWord];
    const mayBeFunctional = word.functionalIn !== 0 || word.isChance;
    if (held.length === 0) return mayBeFunctional ? [] : [{ idf: missingIdf, selective: true }];
    return held.map((part) => {
      const at = known.indexOf(part);
      return { ...(found[at] as { idf: number; selective: boolean }), word: at };
    });
  });
  const { pairs, total: pairWeight } = pairsOf(placed);
  const least = found.map((word) => word.weight).sort((a, b) => b - a)[weights.QUERY_MAX_WORDS - 1];
  const words = found
    .map((word, w): QueryWord => ({ ...word, pair: pairs.get(w) ?? null }))
    .filter((word) => word.weight >= (least ?? 0))
    .slice(0, weights.QUERY_MAX_WORDS);
  const maxScore = sum(words.map((word) => word.weight));
  const run = (first: number, last: number) =>
    parsed.slice(first, last + 1).map((word) => known.indexOf(word));
  const joinedWords = joined.map(({ first, last, terms }) => ({ words: run(first, last), terms }));
  return {
    words,
    maxScore,
    missingScore: sum(missing),
    pairWeight,
    averageLength,
    joined: found.length > weights.QUERY_MAX_WORDS ? [] : joinedWords,
  };
}

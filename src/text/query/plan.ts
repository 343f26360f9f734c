import { FUZZY_MIN_CHARS, PLANNED_WORDS_CACHED, QUERY_MAX_WORDS } from "../../shared/limits.ts";
import { functionWords } from "../analysis/function-words.ts";
import { identifiersIn, tokenize } from "../analysis/tokenize.ts";
import { averageLength } from "./average-length.ts";
import { termFrequencies } from "./document-frequency.ts";
import { type Expansion, expandFuzzy, expandPrefix, expandStem } from "./expansion.ts";
import { type ParsedWord, parseQuery } from "./parse.ts";
import type { View } from "./types.ts";
import {
  COMMON_WORD_SHARE,
  EXACT_FORM_SHARE,
  FUNCTION_WORD_SHARE,
  IDENTIFIER_MAX_SHARE,
  IDENTIFIER_SHARE,
  LONG_QUERY_WORDS,
} from "./weights.ts";

/** A term of a segment that matches a word of the query. */
export interface TermMatch {
  term: number;
  /** What an occurrence counts, as a share of the word itself, which is 1. */
  similarity: number;
  /** What an occurrence of the term adds to the coverage of the query, out of `maxScore`. */
  coverage: number;
}

export interface QueryWord {
  /** Inverse document frequency of the word. */
  idf: number;
  /** The most that the word can add to a score: `formWeight + exactWeight`. */
  weight: number;
  /** The part that all forms of the word earn together. */
  formWeight: number;
  /** The part that only the word itself earns. */
  exactWeight: number;
  /** What a longer or misspelt word can add, before its similarity. */
  otherWeight: number;
  /** Whether the word makes a document a match. Other words only add to the scores of matches. */
  selective: boolean;
  /** For each segment, the word itself and the terms of the same stem: their frequencies add up. */
  forms: TermMatch[][];
  /** For each segment, longer words and those it may be a misspelling of: only the best counts. */
  others: TermMatch[][];
}

export interface QueryPlan {
  words: QueryWord[];
  /** The most that all words together can add to a score. */
  maxScore: number;
  /** Mean length of the documents in scope, in tokens of content. */
  averageLength: number;
}

/**
 * Expands the words of a query to terms and weighs them. The plan depends on the scope, but not on
 * the shard, nor on how documents are spread over segments.
 */
export function planQuery(view: View, query: string): QueryPlan {
  const frequencies = termFrequencies(view);
  const documents = frequencies.reduce((sum, each) => sum + each.documents, 0);
  const frequency: DocumentFrequency = (segment, term) => frequencies[segment]?.of(term) ?? 0;
  const parsed = parseQuery(query);
  const share = shareOf(parsed, query, documents);
  const words = parsed.map((word) => {
    const planned = plannedWord(view, word, documents, frequency);
    return scale(planned, share(word, planned) * word.count);
  });
  const kept = keepRarest(words.filter((word) => word.frequency > 0));
  markSelective(kept, documents);
  const maxScore = kept.reduce((sum, word) => sum + word.weight, 0);
  return { words: kept, maxScore, averageLength: averageLength(view) };
}

/**
 * What the words of a query count. In a long one, function words hardly count, and a rare identifier
 * counts more than the words around it: who writes `getStaticProps` means exactly that.
 */
function shareOf(
  words: readonly ParsedWord[],
  query: string,
  documents: number,
): (word: ParsedWord, planned: PlannedWord) => number {
  if (words.length <= LONG_QUERY_WORDS) return () => 1;
  const functional = functionWords(words.map((word) => word.text));
  const identifiers = new Set(identifiersIn(query).flatMap(tokenize));
  const rare = Math.max(1, documents * IDENTIFIER_MAX_SHARE);
  return ({ text }, { frequency }) => {
    if (identifiers.has(text) && frequency <= rare) return IDENTIFIER_SHARE;
    return functional.has(text) ? FUNCTION_WORD_SHARE : 1;
  };
}

/** How many documents in scope hold a term of a segment. */
type DocumentFrequency = (segment: number, term: number) => number;

interface PlannedWord extends QueryWord {
  /** Sum of the document frequencies of all terms that match the word. */
  frequency: number;
}

/**
 * Words as they were planned for a view, which never changes: queries share words, and those of a
 * query that is being typed share nearly all.
 */
const known = new WeakMap<View, Map<string, PlannedWord>>();

function plannedWord(
  view: View,
  word: ParsedWord,
  documents: number,
  frequency: DocumentFrequency,
): PlannedWord {
  const words = known.get(view) ?? new Map<string, PlannedWord>();
  known.set(view, words);
  const key = word.isPrefix ? `${word.text}*` : word.text;
  const cached = words.get(key);
  if (cached !== undefined) return cached;
  const planned = planWord(view, word, documents, frequency);
  if (words.size >= PLANNED_WORDS_CACHED) words.clear();
  words.set(key, planned);
  return planned;
}

function planWord(
  view: View,
  word: ParsedWord,
  documents: number,
  frequency: DocumentFrequency,
): PlannedWord {
  const forms = expandStem(view, word.text);
  const longer = word.isPrefix ? expandPrefix(view, word.text) : [];
  const occurs = (each: Expansion) => frequency(each.segment, each.term) > 0;
  const isKnown =
    forms.some((form) => form.similarity === 1 && occurs(form)) || longer.some(occurs);
  // Other forms do not make a word known: a misspelling can share its stem with another word.
  const isMisspelt = !isKnown && countLetters(word.text) >= FUZZY_MIN_CHARS;
  const others = [...longer, ...(isMisspelt ? expandFuzzy(view, word.text) : [])];
  return weighTerms(forms, others, documents, frequency);
}

/** Digits do not count: a number with a wrong digit is another number, not a typo. */
function countLetters(word: string): number {
  return word.match(/\p{L}/gu)?.length ?? 0;
}

/**
 * Turns frequencies into weights. All forms of a word share one document frequency, and so do all
 * terms, so that a rare neighbour never counts more than the word itself.
 */
function weighTerms(
  forms: readonly Expansion[],
  others: readonly Expansion[],
  documents: number,
  documentFrequency: DocumentFrequency,
): PlannedWord {
  const all = [...forms, ...others];
  const frequencies = all.map((each) => documentFrequency(each.segment, each.term));
  const idf = (counts: (at: number) => boolean) => {
    let sum = 0;
    for (let i = 0; i < all.length; i++) if (counts(i)) sum += frequencies[i] as number;
    return sum === 0 ? null : idfOf(documents, Math.min(sum, documents));
  };
  const otherWeight = idf(() => true) ?? 0;
  const formWeight = idf((i) => i < forms.length) ?? otherWeight;
  const exactIdf = idf((i) => i < forms.length && all[i]?.similarity === 1) ?? formWeight;
  const exactWeight = EXACT_FORM_SHARE * (exactIdf - formWeight);
  const weight = formWeight + exactWeight;
  const matches = { forms: [] as TermMatch[][], others: [] as TermMatch[][] };
  const merged = new Map<number, TermMatch>();
  all.forEach(({ segment, term, similarity, coverage }, i) => {
    if (frequencies[i] === 0) return;
    const key = segment * TERM_SPACE + term;
    const match = merged.get(key);
    if (match === undefined) {
      const added = { term, similarity, coverage: coverage * weight };
      merged.set(key, added);
      const list = i < forms.length ? matches.forms : matches.others;
      list[segment] ??= [];
      list[segment].push(added);
    } else {
      match.similarity = Math.max(match.similarity, similarity);
      match.coverage = Math.max(match.coverage, coverage * weight);
    }
  });
  const frequency = frequencies.reduce((sum, own) => sum + own, 0);
  const weights = { idf: weight, weight, formWeight, exactWeight, otherWeight };
  return { ...weights, ...matches, selective: true, frequency };
}

/** More than a segment has terms. */
const TERM_SPACE = 2 ** 32;

/** Inverse document frequency as in BM25: positive even for a term that every document holds. */
function idfOf(documents: number, frequency: number): number {
  return Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5));
}

/** A copy that multiplies all that a word can add to a score, but not its rarity. */
function scale(word: PlannedWord, factor: number): PlannedWord {
  if (factor === 1) return { ...word };
  const scaled = (lists: readonly TermMatch[][]) =>
    lists.map((list) => list?.map((match) => ({ ...match, coverage: match.coverage * factor })));
  return {
    ...word,
    weight: word.weight * factor,
    formWeight: word.formWeight * factor,
    exactWeight: word.exactWeight * factor,
    otherWeight: word.otherWeight * factor,
    forms: scaled(word.forms),
    others: scaled(word.others),
  };
}

/** Limits a long query to its weightiest words, in the order of the query. */
function keepRarest(words: PlannedWord[]): PlannedWord[] {
  if (words.length <= QUERY_MAX_WORDS) return words;
  const limit = words.map((word) => word.weight).sort((a, b) => b - a)[QUERY_MAX_WORDS - 1] ?? 0;
  return words.filter((word) => word.weight >= limit).slice(0, QUERY_MAX_WORDS);
}

/** In a long query, common words do not make a document a match, unless all words are common. */
function markSelective(words: PlannedWord[], documents: number): void {
  if (words.length <= LONG_QUERY_WORDS) return;
  const limit = documents * COMMON_WORD_SHARE;
  if (words.every((word) => word.frequency > limit)) return;
  for (const word of words) word.selective = word.frequency <= limit;
}

import { FUZZY_MIN_CHARS, QUERY_MAX_WORDS } from "../../shared/limits.ts";
import { isUnspaced, tokenize } from "../analysis/tokenize.ts";
import { countDocuments, hasDocument } from "../segment/document-set.ts";
import { POSTING_DOCUMENT_SHIFT } from "../segment/format.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { type Expansion, expandFuzzy, expandPrefix, expandStem } from "./expansion.ts";
import type { View } from "./types.ts";
import { COMMON_WORD_SHARE, LONG_QUERY_WORDS } from "./weights.ts";

/** A term of a segment that matches a word of the query. */
export interface TermMatch {
  term: number;
  /** What a posting of the term with the highest impact adds to a document's score. */
  weight: number;
  /** What an occurrence of the term adds to the coverage of the query, out of `maxScore`. */
  coverage: number;
}

export interface QueryWord {
  /** Inverse document frequency of the word; the most that it can add to a score. */
  idf: number;
  /** Whether the word makes a document a match. Other words only add to the scores of matches. */
  selective: boolean;
  /** For each segment, the distinct terms that match the word. */
  terms: TermMatch[][];
}

export interface QueryPlan {
  words: QueryWord[];
  /** The most that all words together can add to a score. */
  maxScore: number;
}

/**
 * Expands the words of a query to terms and weighs them. The plan depends on the scope, but not on
 * the shard, nor on how documents are spread over segments.
 */
export function planQuery(view: View, query: string): QueryPlan {
  const sizes = view.segments.map((segment, s) =>
    countDocuments(view.documentSets[s] ?? null, segment.documentCount),
  );
  const documents = sizes.reduce((sum, size) => sum + size, 0);
  const frequency: DocumentFrequency = (segment, term) => {
    const postings = (view.segments[segment] as SegmentReader).postingsOf(term);
    const set = view.documentSets[segment] ?? null;
    if (sizes[segment] === view.segments[segment]?.documentCount) return postings.length;
    let count = 0;
    for (let i = 0; i < postings.length; i++) {
      if (hasDocument(set, (postings[i] as number) >>> POSTING_DOCUMENT_SHIFT)) count++;
    }
    return count;
  };
  const words = parseQuery(query).map((word) => planWord(view, word, documents, frequency));
  const kept = keepRarest(words.filter((word) => word.frequency > 0));
  markSelective(kept, documents);
  return { words: kept, maxScore: kept.reduce((sum, word) => sum + word.idf, 0) };
}

/** How many documents in scope hold a term of a segment. */
type DocumentFrequency = (segment: number, term: number) => number;

interface ParsedWord {
  text: string;
  /** Whether longer words that start with it match as well. */
  isPrefix: boolean;
}

/** The distinct words of a query in the order in which they first occur. */
function parseQuery(query: string): ParsedWord[] {
  const tokens = tokenize(query);
  const words: ParsedWord[] = [];
  const positions = new Map<string, number>();
  tokens.forEach((text, i) => {
    const isSingle = isUnspaced(text) && [...text].length === 1;
    // The last token of an unspaced run repeats the second character of the pair before it.
    if (isSingle && isTailOf(tokens[i - 1], text)) return;
    let at = positions.get(text);
    if (at === undefined) {
      at = words.length;
      positions.set(text, at);
      words.push({ text, isPrefix: false });
    }
    if (i === tokens.length - 1 || isSingle) (words[at] as ParsedWord).isPrefix = true;
  });
  return words;
}

function isTailOf(pair: string | undefined, character: string): boolean {
  return pair !== undefined && isUnspaced(pair) && pair.endsWith(character);
}

interface PlannedWord extends QueryWord {
  /** Sum of the document frequencies of all terms that match the word. */
  frequency: number;
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
  const expansions = [...forms, ...longer, ...(isMisspelt ? expandFuzzy(view, word.text) : [])];
  return weighTerms(expansions, documents, frequency);
}

/** Digits do not count: a number with a wrong digit is another number, not a typo. */
function countLetters(word: string): number {
  return word.match(/\p{L}/gu)?.length ?? 0;
}

/**
 * Turns similarity into weight. All inexact terms share one document frequency, the sum of all, so
 * that a rare neighbour never counts more than the word itself.
 */
function weighTerms(
  expansions: Expansion[],
  documents: number,
  documentFrequency: DocumentFrequency,
): PlannedWord {
  let exactFrequency = 0;
  let frequency = 0;
  const counted = expansions.map((expansion) => {
    const own = documentFrequency(expansion.segment, expansion.term);
    frequency += own;
    if (expansion.similarity === 1) exactFrequency += own;
    return { ...expansion, own };
  });
  const sharedIdf = idfOf(documents, Math.min(frequency, documents));
  const idf = exactFrequency > 0 ? idfOf(documents, exactFrequency) : sharedIdf;
  const known = new Map<number, TermMatch>();
  const terms: TermMatch[][] = [];
  for (const { segment, term, similarity, coverage, own } of counted) {
    if (own === 0) continue;
    const weight = similarity === 1 ? idf : similarity * sharedIdf;
    const key = segment * TERM_SPACE + term;
    const match = known.get(key);
    if (match !== undefined) {
      match.weight = Math.max(match.weight, weight);
      match.coverage = Math.max(match.coverage, coverage * idf);
      continue;
    }
    const added = { term, weight, coverage: coverage * idf };
    known.set(key, added);
    terms[segment] ??= [];
    terms[segment].push(added);
  }
  return { idf, selective: true, terms, frequency };
}

/** More than a segment has terms. */
const TERM_SPACE = 2 ** 32;

/** Inverse document frequency as in BM25: positive even for a term that every document holds. */
function idfOf(documents: number, frequency: number): number {
  return Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5));
}

/** Limits a long query to its rarest words, in the order of the query. */
function keepRarest(words: PlannedWord[]): PlannedWord[] {
  if (words.length <= QUERY_MAX_WORDS) return words;
  const limit = words.map((word) => word.idf).sort((a, b) => b - a)[QUERY_MAX_WORDS - 1] ?? 0;
  return words.filter((word) => word.idf >= limit).slice(0, QUERY_MAX_WORDS);
}

/** In a long query, common words do not make a document a match, unless all words are common. */
function markSelective(words: PlannedWord[], documents: number): void {
  if (words.length <= LONG_QUERY_WORDS) return;
  const limit = documents * COMMON_WORD_SHARE;
  if (words.every((word) => word.frequency > limit)) return;
  for (const word of words) word.selective = word.frequency <= limit;
}

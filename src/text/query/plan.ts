import { FUZZY_MIN_CHARS, QUERY_MAX_WORDS } from "../../shared/limits.ts";
import { isUnspaced, tokenize } from "../analysis/tokenize.ts";
import { countDocuments, hasDocument } from "../segment/document-set.ts";
import { POSTING_DOCUMENT_SHIFT } from "../segment/format.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { exactAndStem, type Likeness, prefixes, typos } from "./expansion.ts";
import type { View } from "./types.ts";
import { COMMON_WORD_SHARE, LONG_QUERY_WORDS } from "./weights.ts";

/** A term of a segment that stands for a word of the query. */
export interface Candidate {
  term: number;
  /** What the best occurrence of the term adds to a document's score. */
  gain: number;
  /** How much of the query's worth is met where the term stands; see `rerank.ts`. */
  cover: number;
}

export interface PlannedWord {
  text: string;
  /** What the word itself earns at most; the measure of how much it tells documents apart. */
  worth: number;
  /** Whether the word makes a document a match, or only adds to the score of those that are. */
  decisive: boolean;
  /** For each segment, the terms that stand for the word, without repetition. */
  candidates: Candidate[][];
}

export interface Plan {
  words: PlannedWord[];
  /** The most that all words together can earn. */
  worth: number;
}

/**
 * Decides which terms of the dictionaries stand for the query's words and what each is worth. It
 * depends on the scope, but neither on the shard nor on how documents are spread over segments.
 */
export function planQuery(view: View, query: string): Plan {
  const sizes = view.segments.map((s, i) =>
    countDocuments(view.documentSets[i] ?? null, s.documentCount),
  );
  const documents = sizes.reduce((sum, size) => sum + size, 0);
  const count: Counter = (segment, term) => {
    const postings = (view.segments[segment] as SegmentReader).postingsOf(term);
    const scope = view.documentSets[segment] ?? null;
    if (sizes[segment] === view.segments[segment]?.documentCount) return postings.length;
    let found = 0;
    for (let i = 0; i < postings.length; i++) {
      if (hasDocument(scope, (postings[i] as number) >>> POSTING_DOCUMENT_SHIFT)) found++;
    }
    return found;
  };
  const words = queryWords(query).map((word) => planWord(view, word, documents, count));
  const kept = keepRarest(words.filter((word) => word.found > 0));
  markDecisive(kept, documents);
  return { words: kept, worth: kept.reduce((sum, word) => sum + word.worth, 0) };
}

/** Documents in scope that hold a term of a segment. */
type Counter = (segment: number, term: number) => number;

interface QueryWord {
  text: string;
  unfinished: boolean;
}

/** The distinct words of a query in the order of their first places. */
function queryWords(query: string): QueryWord[] {
  const all = tokenize(query);
  const words: QueryWord[] = [];
  const known = new Map<string, number>();
  all.forEach((text, i) => {
    const last = i === all.length - 1;
    // The last character of an unspaced run repeats the end of the pair before it.
    if (isUnspaced(text) && [...text].length === 1 && isTailOf(all[i - 1], text)) return;
    let at = known.get(text);
    if (at === undefined) {
      at = words.length;
      known.set(text, at);
      words.push({ text, unfinished: false });
    }
    if (last || (isUnspaced(text) && [...text].length === 1)) {
      (words[at] as QueryWord).unfinished = true;
    }
  });
  return words;
}

function isTailOf(pair: string | undefined, character: string): boolean {
  return pair !== undefined && isUnspaced(pair) && pair.endsWith(character);
}

interface FoundWord extends PlannedWord {
  /** Documents in scope that hold one of the candidates, counted once for each. */
  found: number;
}

function planWord(view: View, word: QueryWord, documents: number, count: Counter): FoundWord {
  const forms = exactAndStem(view, word.text);
  const longer = word.unfinished ? prefixes(view, word.text) : [];
  const occurs = (each: Likeness) => count(each.segment, each.term) > 0;
  const known = forms.some((form) => form.share === 1 && occurs(form)) || longer.some(occurs);
  // Other forms do not make a word known: a misspelling may look like a form of something else.
  const suspect = !known && letters(word.text) >= FUZZY_MIN_CHARS;
  const alike = [...forms, ...longer, ...(suspect ? typos(view, word.text) : [])];
  const found = weighCandidates(alike, documents, count);
  const { candidates, worth, frequency } = found;
  return { text: word.text, worth, decisive: true, candidates, found: frequency };
}

/** Digits do not count: one wrong digit makes another number and no typo. */
function letters(word: string): number {
  return word.match(/\p{L}/gu)?.length ?? 0;
}

/**
 * Turns likeness into gain. All that stands in for the word is as common as all of it together, so
 * that a rare neighbour never counts more than the word itself.
 */
function weighCandidates(alike: Likeness[], documents: number, count: Counter) {
  let exact = 0;
  let frequency = 0;
  const counted = alike.map((each) => {
    const found = count(each.segment, each.term);
    frequency += found;
    if (each.share === 1) exact += found;
    return { ...each, found };
  });
  const common = rarity(documents, Math.min(frequency, documents));
  const own = exact > 0 ? rarity(documents, exact) : common;
  const best = new Map<number, Candidate>();
  const candidates: Candidate[][] = [];
  for (const { segment, term, share, cover, found } of counted) {
    if (found === 0) continue;
    const gain = share === 1 ? own : share * common;
    const known = best.get(segment * TERM_SPACE + term);
    if (known !== undefined) {
      known.gain = Math.max(known.gain, gain);
      known.cover = Math.max(known.cover, cover * own);
      continue;
    }
    const candidate = { term, gain, cover: cover * own };
    best.set(segment * TERM_SPACE + term, candidate);
    candidates[segment] ??= [];
    candidates[segment].push(candidate);
  }
  return { candidates, frequency, worth: own };
}

/** More than the terms of a segment. */
const TERM_SPACE = 2 ** 32;

/** Inverse document frequency as in BM25; above 0 even for a word in every document. */
function rarity(documents: number, frequency: number): number {
  return Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5));
}

/** Long queries keep their rarest words, in the order of the query. */
function keepRarest(words: FoundWord[]): FoundWord[] {
  if (words.length <= QUERY_MAX_WORDS) return words;
  const limit = words.map((word) => word.worth).sort((a, b) => b - a)[QUERY_MAX_WORDS - 1] ?? 0;
  return words.filter((word) => word.worth >= limit).slice(0, QUERY_MAX_WORDS);
}

/** In a long query, words that are almost everywhere do not make a document a match. */
function markDecisive(words: FoundWord[], documents: number): void {
  if (words.length <= LONG_QUERY_WORDS) return;
  const common = documents * COMMON_WORD_SHARE;
  if (words.every((word) => word.found > common)) return;
  for (const word of words) word.decisive = word.found <= common;
}

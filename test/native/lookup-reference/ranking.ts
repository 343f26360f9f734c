/** Ranks text as native code does, without haste: every document is scored by itself. */
import { hasDocument } from "../../../src/index/segments/index.ts";
import type { Shard } from "../../../src/index/segments/shard.ts";
import {
  FIELD,
  FIRST_INNER_MARK,
  JOINED,
  MARK,
  POSTING_CODE_MASK,
  POSTING_DOCUMENT_SHIFT,
  type SegmentContents,
} from "../../../support/segment-contents.ts";
import type { TextView } from "../../../support/text-search.ts";
import { type ApartMatch, frequenciesOf } from "./apart.ts";
import type { QueryPlan, QueryWord } from "./plan.ts";
import type { TermMatch } from "./plan-word.ts";
import { countsOf, matchesAt, startsWithAll, type Token } from "./tokens.ts";
import * as weights from "./weights.ts";

export interface ReferenceMatch {
  readonly segment: SegmentContents;
  /** The number of the segment in the view. */
  readonly s: number;
  readonly document: number;
  readonly path: string;
  readonly score: number;
}

/** Words of less weight, as a share of the query, only count where they make a match. */
const NEGLIGIBLE_SHARE = 0.001;

const add = (a: number, b: number) => a + b;

/** Every match of the view and shard, best first. */
export function rankByReference(view: TextView, plan: QueryPlan, shard: Shard): ReferenceMatch[] {
  const matches = view.segments.flatMap((segment, s) =>
    [...Array(segment.documentCount).keys()]
      .filter((document) => hasDocument(view.documentSets[s] ?? null, document))
      .filter((d) => (segment.pathHashes[d] as number) % shard.shardCount === shard.shardIndex)
      .flatMap((document) => {
        const first = firstPass(new Frequencies(segment, document, plan), s, plan);
        const path = segment.path(document);
        return first === null ? [] : [{ segment, s, document, path, score: Math.fround(first) }];
      }),
  );
  const order = (a: ReferenceMatch, b: ReferenceMatch) =>
    b.score - a.score || Buffer.compare(Buffer.from(a.path), Buffer.from(b.path));
  matches.sort(order);
  const head = matches.slice(0, weights.RERANK_DOCUMENTS).map((match) => {
    const passages = passagesOf(match.segment, match.document, match.s, plan);
    return { ...match, score: match.score + bonus(passages, plan) };
  });
  return [...head.sort(order), ...matches.slice(weights.RERANK_DOCUMENTS)];
}

/** How often terms are in one document, for its length. */
class Frequencies {
  readonly #norm: number;

  constructor(
    private readonly segment: SegmentContents,
    private readonly document: number,
    { averageLength }: QueryPlan,
  ) {
    const length = (segment.lengths[document] as number) / averageLength;
    this.#norm = 1 - weights.CONTENT_B + weights.CONTENT_B * length;
  }

  /** 0 if the document does not hold the term. */
  of({ term }: TermMatch): number {
    const isOwn = (posting: number) => posting >>> POSTING_DOCUMENT_SHIFT === this.document;
    const { postings, postingStart } = this.segment;
    const posting = postings.subarray(postingStart[term], postingStart[term + 1]).find(isOwn);
    return posting === undefined ? 0 : this.#ofCode(posting & POSTING_CODE_MASK);
  }

  /** 0 if the document does not write the word so. */
  ofApart({ codes }: ApartMatch): number {
    const code = codes.get(this.document);
    return code === undefined ? 0 : this.#ofCode(code);
  }

  #ofCode(code: number): number {
    const { content, fields } = frequenciesOf(code);
    return fields + content / this.#norm;
  }
}

const saturated = (weight: number, frequency: number) =>
  (weight * frequency) / (frequency + weights.K1);

/** The sum of what the words add; null if the document is no match. */
function firstPass(frequencies: Frequencies, s: number, plan: QueryPlan): number | null {
  const holds = (word: QueryWord) =>
    [...(word.forms[s] ?? []), ...(word.others[s] ?? [])].some(
      (each) => frequencies.of(each) > 0,
    ) || (word.apart[s] ?? []).some((each) => frequencies.ofApart(each) > 0);
  if (!plan.words.some((word) => word.selective && holds(word))) return null;
  return plan.words
    .filter((word) => word.selective || word.weight > NEGLIGIBLE_SHARE * plan.maxScore)
    .map((word) => wordScore(frequencies, word, s))
    .reduce(add, 0);
}

function wordScore(frequencies: Frequencies, word: QueryWord, s: number): number {
  const forms = word.forms[s] ?? [];
  const all = forms.map((form) => form.similarity * frequencies.of(form)).reduce(add, 0);
  const exact = forms.filter((form) => form.similarity === 1).map((form) => frequencies.of(form));
  const own = saturated(word.formWeight, all) + saturated(word.exactWeight, exact.reduce(add, 0));
  const others = (word.others[s] ?? []).map((other) =>
    saturated(other.similarity * word.otherWeight, frequencies.of(other)),
  );
  const apart = (word.apart[s] ?? []).map((each) =>
    saturated(weights.SPELLING_SIMILARITY * word.otherWeight, frequencies.ofApart(each)),
  );
  return Math.max(own, ...others, ...apart);
}

interface Passage {
  readonly field: number;
  /** Whether it is the name of the file, with which its path starts. */
  readonly isName: boolean;
  readonly length: number;
  /** The length with which a fit is compared: that of the field for what is written as one. */
  readonly whole: number;
  readonly tokens: readonly Token[];
}

/** The best word for a term: that of which it covers most. */
export function wordsOfTerms(s: number, plan: QueryPlan) {
  const words = new Map<number, { word: number; coverage: number; earnsBonus: boolean }>();
  plan.words.forEach(({ forms, others, apart, weight }, word) => {
    const parts = (apart[s] ?? []).flatMap(({ terms }) =>
      terms.map((term) => ({
        term,
        earnsBonus: true,
        coverage: weights.SPELLING_COVERAGE * weight,
      })),
    );
    const all = [...(forms[s] ?? []), ...(others[s] ?? []), ...parts];
    for (const { term, coverage, earnsBonus } of all) {
      const own = Math.fround(coverage);
      if (own > (words.get(term)?.coverage ?? 0)) {
        words.set(term, { word, coverage: own, earnsBonus });
      }
    }
  });
  return words;
}

/** The terms and marks of a document. */
export function tokensOf({ tokens, tokenStart }: SegmentContents, document: number): Uint32Array {
  return tokens.subarray(tokenStart[document], tokenStart[document + 1]);
}

function passagesOf(segment: SegmentContents, document: number, s: number, plan: QueryPlan) {
  const words = wordsOfTerms(s, plan);
  const passages: Passage[] = [];
  const nothing = { isName: false, length: 0, whole: 0, tokens: [] as Token[] };
  let current = { ...nothing, field: FIELD.path as number };
  let fieldStart = 0;
  const own = tokensOf(segment, document);
  own.forEach((token, i) => {
    if (token >= MARK) {
      passages.push(current);
      const isField = token < FIRST_INNER_MARK;
      if (isField) fieldStart = i + 1;
      const field = isField ? token - MARK : current.field;
      const isName = token === MARK + FIELD.path;
      current = {
        ...nothing,
        field,
        isName,
        whole: token === JOINED ? i - fieldStart : 0,
        tokens: [],
      };
      return;
    }
    const match = words.get(token);
    const read = own.subarray(i - current.length, i + 1);
    if (match?.earnsBonus) current.tokens.push(...matchesAt(read, match, s, plan));
    current.length++;
    current.whole = Math.max(current.whole, current.length);
  });
  return [...passages, current];
}

function bonus(passages: readonly Passage[], plan: QueryPlan): number {
  const { words, maxScore, pairWeight: total } = plan;
  const power = Math.max(weights.RUN_POWER, weights.RUN_POWER_PER_WORD * words.length);
  const runs = passages.map((passage) => runsIn(passage, words));
  const near = words.map(
    ({ pair }, w) => (pair?.weight ?? 0) * Math.max(0, ...runs.map((run) => run.near[w] ?? 0)),
  );
  const phrase = Math.max(0, ...runs.map((run) => run.phrase));
  const share = (weight: number) => (total === 0 ? 0 : (weight / total) ** power);
  const best = (matches: (field: number) => boolean, value: (passage: Passage) => number) =>
    Math.max(0, ...passages.filter(({ field }) => matches(field)).map(value));
  const fit = ({ tokens, whole }: Passage) => {
    if (tokens.length === 0) return 0;
    const { matches, further } = countsOf(tokens);
    const share = matches / (whole - further);
    return ((coverageOf(tokens) / maxScore) * share) ** weights.FIT_POWER;
  };
  const starts = ({ tokens }: Passage) =>
    startsWithAll(tokens, words.length) ? coverageOf(tokens) / maxScore : 0;
  const selective = words.flatMap((word, w) => (word.selective ? [w] : []));
  const named = ({ tokens, whole }: Passage) => {
    const places = tokens.map(({ word }) => selective.indexOf(word)).filter((place) => place >= 0);
    const inOrder = places.every((place, i) => i === 0 || place === (places[i - 1] as number) + 1);
    const { matches, further } = countsOf(tokens);
    const isWhole = inOrder && matches + further === whole;
    const share = isWhole ? coverageOf(tokens) / maxScore : 0;
    return share ** weights.NAMED_POWER;
  };
  const names = passages
    .filter(({ isName, tokens }) => isName && startsWithAll(tokens, words.length))
    .map(named);
  const isTitle = (field: number) => field === FIELD.title;
  const isHeading = (field: number) => field === FIELD.headings;
  return (
    maxScore *
    (weights.PROXIMITY_BONUS * share(near.reduce(add, 0)) +
      weights.PHRASE_BONUS * share(phrase) +
      weights.TITLE_START_BONUS * best(isTitle, starts) +
      weights.TITLE_BONUS * best(isTitle, fit) +
      weights.TITLE_NAMED_BONUS * Math.max(best(isTitle, named), ...names) +
      weights.HEADING_BONUS * best(isHeading, fit) +
      weights.HEADING_NAMED_BONUS * best(isHeading, named) +
      weights.FRONTMATTER_BONUS * best((field) => field >= FIELD.firstKey, fit))
  );
}

/** What the first occurrence of each word covers. */
function coverageOf(tokens: readonly Token[]): number {
  const first = new Map<number, number>();
  for (const { word, coverage } of tokens) if (!first.has(word)) first.set(word, coverage);
  return [...first.values()].reduce(add, 0);
}

/** The best proximity of each pair of words, named by the second, and the weight of the best phrase. */
function runsIn({ tokens }: Passage, words: readonly QueryWord[]) {
  const near = words.map(() => 0);
  const phrases = tokens.map(() => 0);
  tokens.forEach((token, t) => {
    const lastOf = (word: number) => tokens.slice(0, t).findLastIndex((each) => each.word === word);
    const closeness = (at: number, gap: number) => {
      const distance = token.start - (tokens[at]?.position ?? Number.NEGATIVE_INFINITY);
      const excess = Math.max(1, distance - gap);
      return excess > weights.PROXIMITY_MAX_DISTANCE ? 0 : 1 / Math.sqrt(excess);
    };
    const { pair, weight } = words[token.word] as QueryWord;
    if (pair !== null) {
      const before = lastOf(pair.before);
      const own = (token.coverage / weight) * closeness(before, pair.gap);
      near[token.word] = Math.max(near[token.word] as number, own);
      phrases[t] = own === 0 ? 0 : (phrases[before] as number) + own * pair.weight;
    }
    const after = words.findIndex((word) => word.pair?.before === token.word);
    if (after < 0) return;
    const gap = words[after]?.pair?.gap as number;
    const reversed = weights.REVERSED_ORDER_SHARE * closeness(lastOf(after), gap);
    near[after] = Math.max(near[after] as number, reversed);
  });
  return { near, phrase: Math.max(0, ...phrases) };
}

/** The tokens of a passage that match words of a query, also those that are written apart or as one. */
import type { QueryPlan, QueryWord } from "./plan.ts";
import * as weights from "./weights.ts";

/** Tokens of a passage that match a word of the query. */
export interface Token {
  readonly start: number;
  /** Of the last of them. */
  readonly position: number;
  /** Whether it is a word of its own, not written as one with the word before. */
  readonly isFirst: boolean;
  readonly word: number;
  readonly coverage: number;
}

/** The words that the last token of a passage so far completes, which is a match of one of them. */
export function matchesAt(
  read: Uint32Array,
  { word, coverage }: { word: number; coverage: number },
  s: number,
  { words, joined }: QueryPlan,
): Token[] {
  const term = read.at(-1) as number;
  const position = read.length - 1;
  const apart = words[word]?.apart[s] ?? [];
  const isPart = apart.some(({ terms }) => terms.includes(term));
  const here = apart.find(({ terms }) => {
    const last = [...read.slice(-terms.length)];
    return last.length === terms.length && terms.every((each, t) => each === last[t]);
  });
  if (isPart && here === undefined) return [];
  const start = position - (here?.terms.length ?? 1) + 1;
  const own = joined.find(
    ({ words: all, terms }) =>
      all.includes(word) && terms.some((each) => each.segment === s && each.term === term),
  );
  if (own === undefined) return [{ start, position, word, coverage, isFirst: true }];
  return own.words.map((each, i) => ({
    start,
    position,
    word: each,
    isFirst: i === 0,
    coverage: weights.SPELLING_COVERAGE * (words[each] as QueryWord).weight,
  }));
}

/** Whether the last token so far is a word of the query, or ends a word that is written apart. */
export function isMatch(read: Uint32Array, word: number, s: number, plan: QueryPlan): boolean {
  const term = read.at(-1) as number;
  return isWhole(term, s, plan) || matchesAt(read, { word, coverage: 1 }, s, plan).length > 0;
}

/** Whether a term is a match by itself, and not only a part of a word that is written apart. */
export function isWhole(term: number, s: number, { words }: QueryPlan): boolean {
  return words.some(({ forms, others }) =>
    [...(forms[s] ?? []), ...(others[s] ?? [])].some((each) => each.term === term),
  );
}

/** The words of a passage that match, and its further tokens, of those that are written apart. */
export function countsOf(tokens: readonly Token[]) {
  const own = tokens.filter(({ isFirst }) => isFirst);
  const further = own.map(({ start, position }, i) => {
    const matchedEnd = (own[i - 1]?.position ?? -1) + 1;
    return position - Math.max(start, matchedEnd);
  });
  return { matches: own.length, further: further.reduce((a, b) => a + b, 0) };
}

/** Whether a passage starts with all words of the query, in order. */
export function startsWithAll(tokens: readonly Token[], count: number): boolean {
  let [leading, end, next, leads] = [0, 0, 0, false];
  for (const { start, position, isFirst, word } of tokens) {
    if (isFirst) {
      end = next;
      leads = start === end;
    }
    if (!leads || word !== leading) continue;
    leading++;
    next = position + 1;
  }
  return leading === count;
}

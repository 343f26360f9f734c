/** Cuts snippets as native code does, on strings. */

import { unitKind } from "../../../native/testing.ts";
import { spellingSpans, type TokenSpan, tokenize, tokenSpans } from "../../../native/words.ts";
import { SNIPPET_MAX_CHARS } from "../../../src/domain/limits.ts";
import { FIELD, MARK, type SegmentContents } from "../../../support/segment-contents.ts";
import type { QueryPlan, QueryWord } from "./plan.ts";
import { tokensOf, wordsOfTerms } from "./ranking.ts";
import { isMatch, isWhole } from "./tokens.ts";

export interface ReferenceSnippet {
  readonly text: string;
  readonly matches: ReadonlyArray<readonly [number, number]>;
}

const WINDOW_TOKENS = 30;
const REGION_CHARS = 1.75 * SNIPPET_MAX_CHARS;
const LEAD_CHARS = SNIPPET_MAX_CHARS / 4;
const MARKED_MIN_SHARE = 0.1;
const REPEATED_SHARE = 0.1;
const CUT_REACH = 24;

/** A word of the query at a position. */
interface Found {
  readonly position: number;
  readonly word: number;
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly word: number;
}

/** Null if the document has no text. */
export function snippetByReference(
  segment: SegmentContents,
  s: number,
  document: number,
  plan: QueryPlan,
): ReferenceSnippet | null {
  const blocks = segment.blocksOf(document);
  if (blocks[0] === undefined) return null;
  const words = wordsOfTerms(s, plan);
  const tokens = [...tokensOf(segment, document)];
  const after = tokens.slice(tokens.indexOf(MARK + FIELD.content) + 1);
  const end = after.findIndex((token) => token >= MARK);
  const content = Uint32Array.from(end < 0 ? after : after.slice(0, end));
  const found = [...content].flatMap((token, position) => {
    const match = words.get(token);
    const read = content.subarray(0, position + 1);
    const isShown = match !== undefined && isMatch(read, match.word, s, plan);
    return isShown ? [{ position, word: match.word }] : [];
  });
  const marked = markedWords(segment, s, plan);
  const around = (text: string, spans: readonly Span[]) => {
    const starts = spans.map(({ start, word }) => ({ position: start, word }));
    const start = densest(starts, SNIPPET_MAX_CHARS - LEAD_CHARS, plan);
    return cut(text, spans, start === null ? 0 : Math.max(0, start - LEAD_CHARS));
  };
  const at = densest(found, WINDOW_TOKENS, plan);
  if (at === null) {
    // Spellings in parts follow the tokens of the content.
    const all = blocks.map(({ text }) => ({ text, spans: spansIn(text, 0, text.length, marked) }));
    const { text, spans } = all.find((block) => block.spans.length > 0) ?? {
      ...blocks[0],
      spans: [],
    };
    return around(text, spans);
  }

  const index = blocks.findLastIndex((block) => block.firstToken <= at);
  const { firstToken, text: own } = blocks[index] as (typeof blocks)[number];
  const next = blocks[index + 1];
  const last = next?.firstToken ?? (segment.lengths[document] as number);
  const estimate = ((at - firstToken) / Math.max(1, last - firstToken)) * own.length;
  const following =
    estimate + REGION_CHARS / 2 > own.length ? next?.text.slice(0, SNIPPET_MAX_CHARS) : "";
  const text = following ? `${own} ${following}` : own;
  const from = wordStart(text, Math.max(0, estimate - REGION_CHARS / 2));
  const to = characterStart(text, Math.min(text.length, from + REGION_CHARS));
  const near = spansIn(text, from, to, marked);
  return around(text, near.length > 0 ? near : spansIn(text, 0, text.length, marked));
}

/** How much of the query the passage of a text covers that covers most. */
export function coverageByReference(text: string, marked: Marked, plan: QueryPlan): number {
  const spans = spansIn(text, 0, text.length, marked);
  const found = spans.map(({ start, word }) => ({ position: start, word }));
  return windowOf(found, SNIPPET_MAX_CHARS - LEAD_CHARS, plan).most;
}

/** The words of a query as snippets mark them. */
export interface Marked {
  /** The words by token. */
  readonly words: ReadonlyMap<string, number>;
  /** Tokens that are words by themselves, and not only parts of a word that is written apart. */
  readonly whole: ReadonlySet<string>;
  readonly apart: ReadonlyArray<{ readonly word: number; readonly parts: readonly string[] }>;
}

export function markedWords(segment: SegmentContents, s: number, plan: QueryPlan): Marked {
  const terms = segment.terms() as string[];
  const least = MARKED_MIN_SHARE * Math.max(0, ...plan.words.map((word) => word.weight));
  const isHeavy = (word: number) => (plan.words[word] as QueryWord).weight >= least;
  const all = [...wordsOfTerms(s, plan)].filter(([, { word }]) => isHeavy(word));
  const words = new Map(all.map(([term, { word }]) => [terms[term] as string, word]));
  const whole = all
    .filter(([term]) => isWhole(term, s, plan))
    .map(([term]) => terms[term] as string);
  const apart = plan.words.flatMap((own, word) => {
    const ways = isHeavy(word) ? (own.apart[s] ?? []) : [];
    return ways.map((way) => ({ word, parts: way.terms.map((term) => terms[term] as string) }));
  });
  return { words, whole: new Set(whole), apart };
}

/** The same in several segments. */
export function mergedMarks(all: readonly Marked[]): Marked {
  return {
    words: new Map(all.flatMap(({ words }) => [...words]).toReversed()),
    whole: new Set(all.flatMap(({ whole }) => [...whole])),
    apart: all.flatMap(({ apart }) => apart),
  };
}

/** The first position from which a width holds most of the query. */
function densest(found: readonly Found[], width: number, plan: QueryPlan): number | null {
  return windowOf(found, width, plan).best;
}

function windowOf(found: readonly Found[], width: number, { words }: QueryPlan) {
  let best: number | null = null;
  let most = 0;
  for (const { position } of found) {
    const within = found.filter(
      (each) => each.position >= position && each.position < position + width,
    );
    const covered = within
      .map(({ word }, i) => {
        const isFirst = within.findIndex((each) => each.word === word) === i;
        return (words[word] as QueryWord).weight * (isFirst ? 1 : REPEATED_SHARE);
      })
      .reduce((a, b) => a + b, 0);
    if (covered <= most + 1e-9) continue;
    best = position;
    most = covered;
  }
  return { best, most };
}

/** The words in a part of a text. */
function spansIn(text: string, from: number, to: number, marked: Marked): Span[] {
  const part = text.slice(from, to);
  const found = (tokens: readonly TokenSpan[]) => {
    const spans: Array<Span & { readonly token: string }> = [];
    for (const { start, end, token } of tokens) {
      const word = marked.words.get(token);
      if (word !== undefined) spans.push({ start: from + start, end: from + end, word, token });
    }
    return spans.toSorted((a, b) => a.start - b.start);
  };
  const spans: Span[] = [];
  const all = found(tokenSpans(part));
  for (let i = 0; i < all.length; ) {
    const way = marked.apart.find(({ parts }) =>
      parts.every((each, k) => {
        const [before, own] = [all[i + k - 1], all[i + k]];
        if (own?.token !== each) return false;
        const gap = k === 0 ? "" : text.slice(before?.end, own.start);
        return (k === 0 || own.start >= (before?.end ?? 0)) && tokenize(gap).length === 0;
      }),
    );
    const own = all.slice(i, i + (way?.parts.length ?? 1));
    const [first, last] = [own[0] as Span, own.at(-1) as Span];
    if (way !== undefined) spans.push({ start: first.start, end: last.end, word: way.word });
    const isPart = (token: string) => marked.apart.some(({ parts }) => parts.includes(token));
    spans.push(...own.filter(({ token }) => !isPart(token) || marked.whole.has(token)));
    i += own.length;
  }
  return [...spans, ...found(spellingSpans(part))].toSorted((a, b) => a.start - b.start);
}

function cut(text: string, spans: readonly Span[], wanted: number): ReferenceSnippet {
  const start = wordStart(text, wanted);
  const end = wordEnd(text, start + SNIPPET_MAX_CHARS);
  const lead = start > 0 ? "…" : "";
  const matches: Array<[number, number]> = [];
  for (const span of spans) {
    if (span.start < start || span.end > end) continue;
    const [from, to] = [span.start, span.end].map((at) => at - start + lead.length) as [
      number,
      number,
    ];
    const last = matches.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(to, last[1]);
    else matches.push([from, to]);
  }
  return { text: lead + text.slice(start, end) + (end < text.length ? "…" : ""), matches };
}

function wordStart(text: string, position: number): number {
  const at = Math.floor(position);
  if (at <= 0) return 0;
  const space = text.slice(at - 1, at + CUT_REACH).search(/\s/);
  return space < 0 ? characterStart(text, at) : at + space;
}

function wordEnd(text: string, position: number): number {
  if (position >= text.length) return text.length;
  const space = text.slice(position - CUT_REACH, position + 1).lastIndexOf(" ");
  return space < 0 ? characterStart(text, position) : position - CUT_REACH + space;
}

const CHARACTER_REACH = 32;
/** `COMPLEX_UNIT` of native code. */
const COMPLEX = 4;

/** The last position that is not behind a position and where a character starts, if that is near. */
function characterStart(text: string, position: number): number {
  for (let at = position; at > 0 && position - at <= CHARACTER_REACH; at--) {
    const unit = text.charCodeAt(at);
    if (at >= text.length || unit < 128 || unitKind(unit) !== COMPLEX) return at;
  }
  const unit = text.charCodeAt(position);
  return unit >= 0xdc00 && unit <= 0xdfff ? position - 1 : position;
}

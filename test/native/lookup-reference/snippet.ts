/** Cuts snippets as native code does, on strings. */

import { RERANK_MAX_WORDS, SNIPPET_MAX_CHARS } from "../../../src/shared/limits.ts";
import { tokenSpans } from "../../../src/text/analysis/token-spans.ts";
import type { SegmentReader } from "../../../src/text/index.ts";
import { FIELD, MARK } from "../../../src/text/segment/format.ts";
import type { QueryPlan, QueryWord } from "./plan.ts";
import { tokensOf, wordsOfTerms } from "./ranking.ts";

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
  segment: SegmentReader,
  s: number,
  document: number,
  plan: QueryPlan,
): ReferenceSnippet | null {
  const blocks = segment.blocksOf(document).map(({ firstToken, bytes }) => {
    return { firstToken, text: Bun.zstdDecompressSync(new Uint8Array(bytes)).toString("utf8") };
  });
  if (blocks[0] === undefined) return null;
  const words = wordsOfTerms(s, plan);
  const tokens = [...tokensOf(segment, document)];
  const content = tokens.slice(tokens.indexOf(MARK + FIELD.content) + 1).slice(0, RERANK_MAX_WORDS);
  const end = content.findIndex((token) => token >= MARK);
  const found = content.slice(0, end < 0 ? undefined : end).flatMap((token, position) => {
    const match = words.get(token);
    return match === undefined ? [] : [{ position, word: match.word }];
  });
  const at = densest(found, WINDOW_TOKENS, plan);
  if (at === null) return cut(blocks[0].text, [], 0);

  const index = blocks.findLastIndex((block) => block.firstToken <= at);
  const { firstToken, text: own } = blocks[index] as (typeof blocks)[number];
  const next = blocks[index + 1];
  const last = next?.firstToken ?? (segment.lengths[document] as number);
  const estimate = ((at - firstToken) / Math.max(1, last - firstToken)) * own.length;
  const after =
    estimate + REGION_CHARS / 2 > own.length ? next?.text.slice(0, SNIPPET_MAX_CHARS) : "";
  const text = after ? `${own} ${after}` : own;
  const marked = markedWords(segment, s, plan);
  const from = wordStart(text, Math.max(0, estimate - REGION_CHARS / 2));
  const near = spansIn(text, from, from + REGION_CHARS, marked);
  const spans = near.length > 0 ? near : spansIn(text, 0, text.length, marked);
  const starts = spans.map(({ start, word }) => ({ position: start, word }));
  const start = densest(starts, SNIPPET_MAX_CHARS - LEAD_CHARS, plan);
  return cut(text, spans, start === null ? 0 : Math.max(0, start - LEAD_CHARS));
}

/** How much of the query the passage of a text covers that covers most. */
export function coverageByReference(
  text: string,
  marked: ReadonlyMap<string, number>,
  plan: QueryPlan,
): number {
  const spans = spansIn(text, 0, text.length, marked);
  const found = spans.map(({ start, word }) => ({ position: start, word }));
  return windowOf(found, SNIPPET_MAX_CHARS - LEAD_CHARS, plan).most;
}

/** The words of a query that snippets mark, by token. */
export function markedWords(segment: SegmentReader, s: number, plan: QueryPlan) {
  const terms = segment.terms();
  const least = MARKED_MIN_SHARE * Math.max(0, ...plan.words.map((word) => word.weight));
  const marked = new Map<string, number>();
  for (const [term, { word }] of wordsOfTerms(s, plan)) {
    if ((plan.words[word] as QueryWord).weight >= least) marked.set(terms[term] as string, word);
  }
  return marked;
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

/** Whatever separates words in English text. */
const SEPARATORS =
  /[^A-Za-z0-9\u0080-\uffff]|[\u00a0\u2010-\u2027\u202f-\u203b\u203d-\u2048\u204a-\u205e]/;

/** The words in a part of a text. */
function spansIn(
  text: string,
  from: number,
  to: number,
  marked: ReadonlyMap<string, number>,
): Span[] {
  const spans: Span[] = [];
  let offset = from;
  for (const piece of text.slice(from, to).split(SEPARATORS)) {
    const tokens = tokenSpans(piece);
    for (let i = 0; i < tokens.length; i += 3) {
      const [start, end, token] = tokens.slice(i, i + 3) as [number, number, string];
      const word = marked.get(token);
      if (word !== undefined) spans.push({ start: offset + start, end: offset + end, word });
    }
    offset += piece.length + 1;
  }
  return spans;
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
    if (last !== undefined && from <= last[1]) last[1] = to;
    else matches.push([from, to]);
  }
  return { text: lead + text.slice(start, end) + (end < text.length ? "…" : ""), matches };
}

function wordStart(text: string, position: number): number {
  const at = Math.floor(position);
  if (at <= 0) return 0;
  const space = text.slice(at - 1, at + CUT_REACH).search(/\s/);
  return space < 0 ? notInsidePair(text, at) : at + space;
}

function wordEnd(text: string, position: number): number {
  if (position >= text.length) return text.length;
  const space = text.slice(position - CUT_REACH, position + 1).lastIndexOf(" ");
  return space < 0 ? notInsidePair(text, position) : position - CUT_REACH + space;
}

function notInsidePair(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

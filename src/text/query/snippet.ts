import { RERANK_MAX_WORDS, SNIPPET_MAX_CHARS, TEXT_BLOCKS_CACHED } from "../../shared/limits.ts";
import { type WordSpan, wordSpans } from "../analysis/word-spans.ts";
import type { WordTable } from "../analysis/word-table.ts";
import { bisect } from "../segment/bisect.ts";
import { FIELD, MARK } from "../segment/format.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { decompressText } from "../segment/text-blocks.ts";
import type { TextBlock } from "../segment/write-segment.ts";
import type { MatchingTerms } from "./matching-terms.ts";
import type { QueryPlan, QueryWord } from "./plan.ts";
import type { Snippet } from "./types.ts";

/** Starts the content in `signedTokens`. */
const CONTENT_MARK = (MARK + FIELD.content) | 0;
/** About the number of words in a snippet. */
const WINDOW_TOKENS = 30;
/** Text that is searched for the words of the window: its place in a block is an estimate. */
const REGION_CHARS = 1.75 * SNIPPET_MAX_CHARS;
/** Text before the first match. */
const LEAD_CHARS = SNIPPET_MAX_CHARS / 4;
const ELLIPSIS = "…";

/** Cuts snippets out of the documents of one segment, where most of the query is close together. */
export class Snippeter {
  readonly #segment: SegmentReader;
  readonly #terms: MatchingTerms;
  readonly #plan: QueryPlan;
  /** The terms that are marked, under the position of their word in the plan plus 1. */
  readonly #marked: WordTable;
  /** Of the matches that are looked at: their positions in the text, and their words. */
  readonly #positions: number[] = [];
  readonly #words: number[] = [];
  /** How often each word is in the window. */
  readonly #counts: Uint32Array;

  constructor(segment: SegmentReader, terms: MatchingTerms, plan: QueryPlan) {
    this.#segment = segment;
    this.#terms = terms;
    this.#plan = plan;
    const least = MARKED_MIN_SHARE * Math.max(0, ...plan.words.map((word) => word.weight));
    this.#marked = terms.table((word) => this.#weight(word) >= least);
    this.#counts = new Uint32Array(plan.words.length);
  }

  /** Null if the document has no text. */
  snippet(document: number): Snippet | null {
    const segment = this.#segment;
    const [first, end] = segment.blockRange(document);
    if (first === end) return null;
    const at = this.#bestWindow(document);
    if (at === null) return cut(textOf(segment.block(first)), [], 0);
    const block = first + bisect(end - first, (i) => segment.firstTokenOf(first + i) > at) - 1;
    const own = textOf(segment.block(block));
    const lastToken = block + 1 < end ? segment.firstTokenOf(block + 1) : this.#length(document);
    const start = segment.firstTokenOf(block);
    const estimate = ((at - start) / Math.max(1, lastToken - start)) * own.length;
    const isAtEnd = estimate + REGION_CHARS / 2 > own.length && block + 1 < end;
    const next = isAtEnd ? textOf(segment.block(block + 1)).slice(0, SNIPPET_MAX_CHARS) : "";
    const text = next === "" ? own : `${own} ${next}`;
    const from = wordStart(text, Math.max(0, estimate - REGION_CHARS / 2));
    const near = this.#matchesIn(text, from, from + REGION_CHARS);

    const spans = near.length > 0 ? near : this.#matchesIn(text, 0, text.length);
    return cut(text, spans, this.#bestStart(spans));
  }

  #length(document: number): number {
    return this.#segment.lengths[document] as number;
  }

  /** The first token of the window of the content that holds most of the query; null if none. */
  #bestWindow(document: number): number | null {
    const { signedTokens: tokens, tokenStart } = this.#segment;
    const { wordOf } = this.#terms;
    const end = tokenStart[document + 1] as number;
    let start = tokenStart[document] as number;
    while (start < end && tokens[start] !== CONTENT_MARK) start++;
    start++;
    this.#clear();
    for (let i = start; i < Math.min(end, start + RERANK_MAX_WORDS); i++) {
      const token = tokens[i] as number;
      if (token < 0) break;
      const word = wordOf[token] as number;
      if (word !== 0) this.#push(i - start, word);
    }
    const best = this.#densest(WINDOW_TOKENS);
    return best < 0 ? null : (this.#positions[best] as number);
  }

  #clear(): void {
    this.#positions.length = 0;
    this.#words.length = 0;
  }

  #push(position: number, word: number): void {
    this.#positions.push(position);
    this.#words.push(word - 1);
  }

  /** The first of the matches within `width` that cover most of the query; -1 if there are none. */
  #densest(width: number): number {
    const positions = this.#positions;
    const words = this.#words;
    const counts = this.#counts.fill(0);
    let covered = 0;
    let best = -1;
    let most = 0;
    let to = 0;
    for (let from = 0; from < positions.length; from++) {
      while (
        to < positions.length &&
        (positions[to] as number) < (positions[from] as number) + width
      ) {
        covered += this.#gain(words[to] as number, counts);
        to++;
      }
      if (covered > most + 1e-9) {
        best = from;
        most = covered;
      }
      const word = words[from] as number;
      counts[word] = (counts[word] as number) - 1;
      covered -= this.#weight(word) * (counts[word] === 0 ? 1 : REPEATED_SHARE);
    }
    return best;
  }

  #gain(word: number, counts: Uint32Array): number {
    counts[word] = (counts[word] as number) + 1;
    return this.#weight(word) * (counts[word] === 1 ? 1 : REPEATED_SHARE);
  }

  #weight(word: number): number {
    return (this.#plan.words[word] as QueryWord).weight;
  }

  /** The matching words of a part of the text. */
  #matchesIn(text: string, from: number, to: number): WordSpan[] {
    const spans = wordSpans(text.slice(from, to), this.#marked);
    for (const span of spans) {
      span.start += from;
      span.end += from;
    }
    return spans;
  }

  /** Where a snippet should start to show most of the query. */
  #bestStart(spans: readonly WordSpan[]): number {
    this.#clear();
    for (const { start, word } of spans) this.#push(start, word);
    const best = this.#densest(SNIPPET_MAX_CHARS - LEAD_CHARS);
    return best < 0 ? 0 : Math.max(0, (this.#positions[best] as number) - LEAD_CHARS);
  }
}

/** Words that weigh less than this share of the weightiest one, such as "a", are not marked. */
const MARKED_MIN_SHARE = 0.1;
/** What a word adds that is in the window already. */
const REPEATED_SHARE = 0.1;
/** Cuts at words, and marks a cut with an ellipsis. */
function cut(text: string, spans: readonly WordSpan[], wanted: number): Snippet {
  const start = wordStart(text, wanted);
  const end = wordEnd(text, start + SNIPPET_MAX_CHARS);
  const lead = start > 0 ? ELLIPSIS : "";
  const shown = lead + text.slice(start, end) + (end < text.length ? ELLIPSIS : "");
  const shift = lead.length - start;
  const matches: Snippet["matches"] = [];
  for (const span of spans) {
    if (span.start < start || span.end > end) continue;
    const last = matches.at(-1);
    // Pairs of characters of unspaced scripts overlap.
    if (last !== undefined && span.start + shift <= last[1]) last[1] = span.end + shift;
    else matches.push([span.start + shift, span.end + shift]);
  }
  return { text: shown, matches };
}

/** How far a cut moves to find a space. */
const CUT_REACH = 24;

/** The first start of a word at or after the position; the position itself if none is near. */
function wordStart(text: string, position: number): number {
  const at = Math.floor(position);
  if (at <= 0) return 0;
  const space = text.slice(at - 1, at + CUT_REACH).search(/\s/);
  return space < 0 ? notInsidePair(text, at) : at + space;
}

/** The last end of a word at or before the position; the position itself if none is near. */
function wordEnd(text: string, position: number): number {
  if (position >= text.length) return text.length;
  const window = text.slice(position - CUT_REACH, position + 1);
  const space = window.lastIndexOf(" ");
  return space < 0 ? notInsidePair(text, position) : position - CUT_REACH + space;
}

function notInsidePair(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

/** Recently used texts of this thread, the least recently used first, by their compressed bytes. */
const texts = new Map<number, string>();
/** Distinguishes the buffers of segments. */
const numbers = new WeakMap<ArrayBufferLike, number>();
let lastNumber = 0;
/** More bytes than a buffer has. */
const BUFFER_SPACE = 2 ** 34;

function textOf({ bytes }: TextBlock): string {
  let number = numbers.get(bytes.buffer);
  if (number === undefined) {
    number = ++lastNumber;
    numbers.set(bytes.buffer, number);
  }
  const key = number * BUFFER_SPACE + bytes.byteOffset;
  const text = texts.get(key) ?? decompressText(bytes);
  texts.delete(key);
  texts.set(key, text);
  if (texts.size > TEXT_BLOCKS_CACHED) texts.delete(texts.keys().next().value as number);
  return text;
}

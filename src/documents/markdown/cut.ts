import { CHUNK_MAX_CHARS } from "../../domain/limits.ts";

/** A half-open range of UTF-16 code units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const SENTENCES = new Intl.Segmenter(undefined, { granularity: "sentence" });
/** A line break within a paragraph does not end a sentence, but the segmenter takes it for the end of one. */
const LINE_BREAK = /[\n\r\u0085\u2028\u2029]/g;

/** Without white space around it. `keepsIndent` leaves that at the start of its first line. */
export function trimmed(text: string, { start, end }: Span, keepsIndent = false): Span {
  const slice = text.slice(start, end);
  const body = slice.trimStart();
  let first = start + slice.length - body.length;
  while (keepsIndent && first > start && /[ \t]/.test(text.charAt(first - 1))) first--;
  return { start: first, end: Math.max(first, start + slice.trimEnd().length) };
}

/** Cuts a long text after sentences; a long sentence after words. */
export function cutText(text: string, span: Span): Generator<Span> {
  const choose = (window: string) => sentenceEnd(window) ?? wordEnd(window);
  return cut(text, span, { choose, maxChars: CHUNK_MAX_CHARS, keepsIndent: false });
}

/**
 * Cuts long code or a long table after lines: of those in the second half of a piece after an empty one, or
 * else before the one that is indented least. A line that is longer than a piece is cut after words.
 */
export function cutLines(text: string, span: Span, maxChars = CHUNK_MAX_CHARS): Generator<Span> {
  const choose = (window: string, after: string) => {
    const line = bestLine(window, after.slice(0, INDENT_MAX)) ?? 0;
    const isWhole = after.length < line || after.slice(0, line).includes("\n");
    if (isWhole || line >= window.length / 2) return line;
    return wordEnd(window) ?? (line > 0 ? line : undefined);
  };
  return cut(text, span, { choose, maxChars, keepsIndent: true });
}

interface Cutting {
  /** Chooses a position in a window of the length of a piece; `after` is next, of the same length at most. */
  readonly choose: (window: string, after: string) => number | undefined;
  readonly maxChars: number;
  readonly keepsIndent: boolean;
}

function* cut(
  text: string,
  { start: from, end }: Span,
  { choose, maxChars, keepsIndent }: Cutting,
): Generator<Span> {
  let start = from;
  while (end - start > maxChars) {
    const latest = start + maxChars;
    const window = text.slice(start, latest);
    const after = text.slice(latest, Math.min(end, latest + maxChars));
    const next = start + (choose(window, after) ?? wholeCharacters(window));
    const piece = trimmed(text, { start, end: next }, keepsIndent);
    if (piece.end > piece.start) yield piece;
    start = next;
  }
  const rest = trimmed(text, { start, end }, keepsIndent);
  if (rest.end > rest.start) yield rest;
}

function sentenceEnd(window: string): number | undefined {
  let last = 0;
  for (const { index } of SENTENCES.segment(window.replace(LINE_BREAK, " "))) last = index;
  return last > 0 ? last : undefined;
}

/** The end of the last word in the second half of a window: at a space, else after any sign between words. */
function wordEnd(window: string): number | undefined {
  const from = Math.ceil(window.length / 2);
  const space = Math.max(window.lastIndexOf("\n"), window.lastIndexOf(" "));
  if (space >= from) return space + 1;
  const [ends] = SIGN_AT_END.exec(window.slice(from)) ?? [];
  return ends === undefined ? undefined : from + ends.length;
}

/** Up to the last character that does not belong to a word or to a surrogate pair. */
const SIGN_AT_END = /^[\s\S]*[^\p{L}\p{N}\p{M}\p{Cs}_](?!\p{M})/u;

/** Never between the halves of a surrogate pair. */
function wholeCharacters(window: string): number {
  const unit = window.charCodeAt(window.length - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? window.length - 1 : window.length;
}

function bestLine(window: string, after: string): number | undefined {
  const lines = window + after;
  let best: number | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let at = window.lastIndexOf("\n"); at > 0; at = window.lastIndexOf("\n", at - 1)) {
    if (at < window.length / 2 && best !== undefined) break;
    const isAfterEmpty = /\n[ \t\r]*$/.test(lines.slice(Math.max(0, at - INDENT_MAX), at));
    const indent = /^[ \t]*/.exec(lines.slice(at + 1, at + 1 + INDENT_MAX))?.[0].length ?? 0;
    const cost = isAfterEmpty ? -1 : indent;
    if (cost >= least) continue;
    least = cost;
    best = at + 1;
  }
  return best;
}

/** White space that is looked at around a line break. */
const INDENT_MAX = 64;

import { HEADING_MAX_CHARS } from "../shared/limits.ts";

export interface Heading {
  /** 1..6 */
  level: number;
  /** Plain text, at most HEADING_MAX_CHARS long. */
  text: string;
  /** The heading's lines in the file, in UTF-16 code units; `end` is after the line break. */
  start: number;
  end: number;
}

const ATX = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const SETEXT = /^ {0,3}(=+|-+)[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
/** What headings and fences begin with, after at most `INDENT_MAX` spaces. */
const MARKUP = new Set(Array.from("#=`~-", (character) => character.charCodeAt(0)));
const INDENT_MAX = 3;
const SPACE = 32;
/** Lines that cannot be the text of an underlined heading: lists, quotes, tables, indented code. */
const NOT_A_PARAGRAPH = /^(?:\s*$| {4}|\t|\s*(?:[-+*>|#]|\d+[.)] ))/;
/** Characters of a line that are checked for a heading or fence. */
const LINE_WINDOW = 4 * HEADING_MAX_CHARS;

/** Finds the headings of a Markdown body outside fenced code, in one pass over its lines. */
export function scanHeadings(text: string, from: number): Heading[] {
  const scanner = new HeadingScanner(text, from);
  scanner.advance(text.length);
  return scanner.headings;
}

/** Finds the headings of a Markdown body piece by piece, for callers who have other things to do. */
export class HeadingScanner {
  /** Those that were found so far. */
  readonly headings: Heading[] = [];
  #start: number;
  #fence: string | null = null;
  /** The line before, if it may be the text of an underlined heading; else empty. */
  #previous: { start: number; end: number };

  constructor(
    private readonly text: string,
    from: number,
  ) {
    this.#start = from;
    this.#previous = { start: from, end: from };
  }

  /** Reads on to the end of the line at `until`. */
  advance(until: number): void {
    const { text } = this;
    while (this.#start < until && this.#start < text.length) {
      const start = this.#start;
      const newline = text.indexOf("\n", start);
      const end = newline < 0 ? text.length : newline + 1;
      if (mayBeMarkup(text, start)) this.#readMarkup(start, end);
      else this.#pass(start, end);
      this.#start = end;
    }
  }

  /** Reads a line that may be a heading or a fence. */
  #readMarkup(start: number, end: number): void {
    const line = this.#line(start, end);
    const marker = FENCE.exec(line);
    if (this.#fence !== null) {
      if (marker !== null && closes(this.#fence, marker)) this.#fence = null;
    } else if (marker !== null && opens(marker)) {
      this.#fence = marker[1] as string;
    } else {
      const previous = this.#previous;
      const heading = headingAt(line, () => this.#line(previous.start, previous.end));
      if (heading === null) {
        this.#pass(start, end);
        return;
      }
      const { level, text, underlined } = heading;
      this.headings.push({ level, text, start: underlined ? previous.start : start, end });
    }
    this.#previous = { start: end, end };
  }

  /** Notes a line without markup. */
  #pass(start: number, end: number): void {
    this.#previous = { start: this.#fence === null ? start : end, end };
  }

  #line(start: number, end: number): string {
    return this.text.slice(start, Math.min(end, start + LINE_WINDOW)).trimEnd();
  }
}

/** Tells most lines from headings and fences without a string of them. */
function mayBeMarkup(text: string, start: number): boolean {
  let at = start;
  while (at < start + INDENT_MAX && text.charCodeAt(at) === SPACE) at++;
  return MARKUP.has(text.charCodeAt(at));
}

/** Text such as ```code``` on one line does not open a fence. */
function opens(marker: RegExpExecArray): boolean {
  return !(marker[1] as string).startsWith("`") || !(marker[2] as string).includes("`");
}

/** A closing fence has the same character, at least the same length, and no text after it. */
function closes(fence: string, marker: RegExpExecArray): boolean {
  const candidate = marker[1] as string;
  return (
    candidate[0] === fence[0] &&
    candidate.length >= fence.length &&
    (marker[2] as string).trim() === ""
  );
}

function headingAt(
  line: string,
  previousLine: () => string,
): { level: number; text: string; underlined: boolean } | null {
  const atx = ATX.exec(line);
  if (atx !== null) {
    return { level: (atx[1] as string).length, text: plainText(atx[2] ?? ""), underlined: false };
  }
  const setext = SETEXT.exec(line);
  if (setext === null) return null;
  const previous = previousLine();
  if (NOT_A_PARAGRAPH.test(previous)) return null;
  const level = (setext[1] as string).startsWith("=") ? 1 : 2;
  return { level, text: plainText(previous), underlined: true };
}

/**
 * Removes closing hashes, anchors such as {#name} and inline markup. No pattern can restart within
 * its own match, so hostile lines take linear time too.
 */
function plainText(raw: string): string {
  return (
    withoutClosingHashes(raw.trim())
      .replace(/\{#[^{}]*\}$/, "")
      .replace(/!?\[([^\][]*)\]\([^()]*\)/g, "$1")
      .replace(/[*`~]+/g, "")
      .replace(/<[^<>]*>/g, "")
      .trim()
      .slice(0, HEADING_MAX_CHARS)
      // The cut may have left half of a surrogate pair, which cannot be stored.
      .toWellFormed()
  );
}

function withoutClosingHashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "#") end--;
  const before = text[end - 1];
  return before === undefined || before === " " || before === "\t"
    ? text.slice(0, end).trimEnd()
    : text;
}

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
/** Lines of every heading and fence, told from most others by their first characters. */
const MAY_BE_MARKUP = /^ {0,3}[#=`~-]/;
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
  #previous: { line: string; start: number };

  constructor(
    private readonly text: string,
    from: number,
  ) {
    this.#start = from;
    this.#previous = { line: "", start: from };
  }

  /** Reads on to the end of the line at `until`. */
  advance(until: number): void {
    const { text } = this;
    while (this.#start < until && this.#start < text.length) {
      const start = this.#start;
      const newline = text.indexOf("\n", start);
      const end = newline < 0 ? text.length : newline + 1;
      const line = text.slice(start, Math.min(end, start + LINE_WINDOW)).trimEnd();
      this.#readLine(line, start, end);
      this.#start = end;
    }
  }

  #readLine(line: string, start: number, end: number): void {
    const marker = MAY_BE_MARKUP.test(line) ? FENCE.exec(line) : null;
    if (this.#fence !== null) {
      if (marker !== null && closes(this.#fence, marker)) this.#fence = null;
      this.#previous = { line: "", start: end };
    } else if (marker !== null && opens(marker)) {
      this.#fence = marker[1] as string;
      this.#previous = { line: "", start: end };
    } else {
      const heading = headingAt(line, this.#previous.line);
      if (heading === null) {
        this.#previous = { line, start };
        return;
      }
      const { level, text, underlined } = heading;
      this.headings.push({ level, text, start: underlined ? this.#previous.start : start, end });
      this.#previous = { line: "", start: end };
    }
  }
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
  previousLine: string,
): { level: number; text: string; underlined: boolean } | null {
  if (!MAY_BE_MARKUP.test(line)) return null;
  const atx = ATX.exec(line);
  if (atx !== null) {
    return { level: (atx[1] as string).length, text: plainText(atx[2] ?? ""), underlined: false };
  }
  const setext = SETEXT.exec(line);
  if (setext === null || NOT_A_PARAGRAPH.test(previousLine)) return null;
  const level = (setext[1] as string).startsWith("=") ? 1 : 2;
  return { level, text: plainText(previousLine), underlined: true };
}

/**
 * Removes closing hashes, anchors such as {#name} and inline markup. No pattern can restart within
 * its own match, so hostile lines take linear time too.
 */
function plainText(raw: string): string {
  return withoutClosingHashes(raw.trim())
    .replace(/\{#[^{}]*\}$/, "")
    .replace(/!?\[([^\][]*)\]\([^()]*\)/g, "$1")
    .replace(/[*`~]+/g, "")
    .replace(/<[^<>]*>/g, "")
    .trim()
    .slice(0, HEADING_MAX_CHARS);
}

function withoutClosingHashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "#") end--;
  const before = text[end - 1];
  return before === undefined || before === " " || before === "\t"
    ? text.slice(0, end).trimEnd()
    : text;
}

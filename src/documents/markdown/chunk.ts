import { CHUNK_MAX_CHARS } from "../../domain/limits.ts";
import { type Block, type Heading, type Part, readBlocks } from "./blocks.ts";
import { cutLines, cutText, type Span, trimmed } from "./cut.ts";
import { type WithoutData, withoutData } from "./data-addresses.ts";
import { readFrontmatter } from "./frontmatter.ts";
import type { MarkdownChunk } from "./types.ts";

/** Blocks are joined into chunks up to the target; no chunk exceeds CHUNK_MAX_CHARS. */
const CHUNK_TARGET_CHARS = 1_200;
/** The head of a longer table is not repeated, so that at least half of a chunk is rows. */
const TABLE_HEAD_MAX_CHARS = CHUNK_MAX_CHARS / 2;

/**
 * Cuts a Markdown file into chunks by heading, and long sections between blocks. A block is cut only if it is longer
 * than a chunk may be: a list between its items, code and tables between lines, text between sentences. Offsets are
 * UTF-16 code units of the whole file, so `text.slice(start_offset, end_offset)` is the chunk, but for two things:
 * files that are in addresses are left out, and a chunk that continues a table has the head of the table before it.
 * Invisible parts, such as frontmatter and definitions of links, make no chunk of their own; everything else is in
 * exactly one. Callers can pause after each chunk.
 */
export function* markdownChunks(text: string): Generator<MarkdownChunk> {
  const { unread, bodyOffset } = readFrontmatter(text);
  const outline = new Outline();
  const shown = withoutData(text, bodyOffset);
  const chunks = new ChunkWriter(shown);
  if (unread !== null) yield* chunks.add({ ...unread, form: "lines", parts: () => [] }, true);
  for (const block of readBlocks(shown.text, bodyOffset)) {
    if (block.isHeading) yield* chunks.beginSection(() => outline.add(block.headings));
    if (block.isVisible()) yield* chunks.add(block, hasBody(block));
  }
  yield* chunks.end();
}

/** Splits a file that is not Markdown between paragraphs, as a long section of Markdown. */
export function* plainChunks(text: string): Generator<MarkdownChunk> {
  const shown = withoutData(text);
  const chunks = new ChunkWriter(shown);
  for (const paragraph of paragraphsOf(shown.text)) {
    yield* chunks.add({ ...paragraph, form: "text", parts: () => [] }, true);
  }
  yield* chunks.end();
}

function hasBody(block: Block): boolean {
  return !block.isHeading || block.text() !== "";
}

function* paragraphsOf(text: string): Generator<Span> {
  let start = 0;
  for (const gap of text.matchAll(/\n[ \t]*(?:\r?\n[ \t]*)+/g)) {
    const end = gap.index + gap[0].length;
    yield { start, end };
    start = end;
  }
  yield { start, end: text.length };
}

/** The headings above a place in a file. */
class Outline {
  readonly #open: Heading[] = [];

  /** Returns the path of the section that begins. */
  add(headings: readonly Heading[]): string[] {
    const open = this.#open;
    for (const heading of headings) {
      while (open.length > 0 && (open.at(-1) as Heading).level >= heading.level) open.pop();
      open.push(heading);
    }
    return open.map(({ text }) => text).filter((text) => text !== "");
  }
}

/** A passage of the text; one that continues a table has its head. */
interface Piece extends Span {
  readonly head?: string;
}

/** The head of a table with single spaces in its cells. */
function headText(text: string, { start, end }: Span): string {
  const lines = text.slice(start, end).trimEnd();
  return `${lines.replace(/(\S) {2,}/g, "$1 ").replace(/-{3,}/g, "---")}\n`;
}

/** Fills chunks with whole blocks. */
class ChunkWriter {
  readonly #text: string;
  #headings: string[] = [];
  #open: { start: number; end: number; head?: string } | undefined;
  /** False while the section consists of headings. Headings stay with the text that follows them. */
  #hasBody = false;

  constructor(private readonly shown: WithoutData) {
    this.#text = shown.text;
  }

  /** A heading without text is part of the next section. */
  *beginSection(path: () => string[]): Generator<MarkdownChunk> {
    if (this.#hasBody) yield* this.end();
    this.#headings = path();
  }

  *add(part: Part, hasBody: boolean): Generator<MarkdownChunk> {
    for (const piece of this.#pieces(part)) {
      const limit = this.#hasBody ? CHUNK_TARGET_CHARS : CHUNK_MAX_CHARS;
      const open = this.#open;
      if (open !== undefined && lengthOf({ ...open, end: piece.end }) <= limit) {
        open.end = piece.end;
      } else {
        yield* this.#flush();
        this.#open = { ...piece };
      }
      this.#hasBody ||= hasBody;
    }
  }

  *end(): Generator<MarkdownChunk> {
    yield* this.#flush();
    this.#hasBody = false;
  }

  *#flush(): Generator<MarkdownChunk> {
    if (this.#open === undefined) return;
    const { start, end, head = "" } = this.#open;
    this.#open = undefined;
    const content = head + this.#text.slice(start, end);
    yield {
      content,
      start_offset: this.shown.originalOf(start),
      end_offset: this.shown.originalOf(end),
      token_count: countTokens(content),
      metadata: { headings: this.#headings },
    };
  }

  /** A block that fits into a chunk is one piece. */
  *#pieces(part: Part): Generator<Piece> {
    const text = this.#text;
    const span = trimmed(text, part, part.form === "lines");
    if (span.end - span.start <= CHUNK_MAX_CHARS) {
      if (span.end > span.start) yield span;
      return;
    }
    const parts = part.parts();
    if (parts.length > 0) for (const each of parts) yield* this.#pieces(each);
    else if (part.head !== undefined) yield* this.#rows(span, headText(text, part.head));
    else yield* part.form === "lines" ? cutLines(text, span) : cutText(text, span);
  }

  *#rows(table: Span, head: string): Generator<Piece> {
    const isRepeated = head.length <= TABLE_HEAD_MAX_CHARS;
    const max = CHUNK_MAX_CHARS - (isRepeated ? head.length : 0);
    for (const rows of cutLines(this.#text, table, max)) {
      yield isRepeated && rows.start > table.start ? { ...rows, head } : rows;
    }
  }
}

const lengthOf = ({ start, end, head = "" }: Piece) => head.length + end - start;

const CJK = "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}\\p{sc=Thai}";
const TOKEN = new RegExp(
  `[${CJK}]|(?:(?![${CJK}])[\\p{L}\\p{N}\\p{M}_])+|[^\\s\\p{L}\\p{N}]`,
  "gu",
);

const [SPACE, WORD, MARK] = [0, 1, 2];
/** The kind of each ASCII character for the estimate, by its code. */
const ASCII_KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/\s/.test(character)) return SPACE;
  return /\w/.test(character) ? WORD : MARK;
});

/** Estimates tokens without a model: words, punctuation marks, characters of unspaced scripts. */
export function countTokens(text: string): number {
  let count = 0;
  let isInWord = false;
  for (let at = 0; at < text.length; at++) {
    const kind = ASCII_KINDS[text.charCodeAt(at)];
    if (kind === undefined) return countAnyTokens(text);
    if (kind === MARK || (kind === WORD && !isInWord)) count++;
    isInWord = kind === WORD;
  }
  return count;
}

function countAnyTokens(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(TOKEN)) count++;
  return count;
}

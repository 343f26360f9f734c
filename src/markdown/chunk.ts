import { CHUNK_MAX_CHARS } from "../shared/limits.ts";
import { readFrontmatter } from "./frontmatter.ts";
import { type Heading, scanHeadings } from "./headings.ts";
import type { MarkdownChunk } from "./types.ts";

/** Paragraphs are joined into chunks up to the target; no chunk exceeds the maximum. */
const CHUNK_TARGET_CHARS = 1_200;

interface Span {
  start: number;
  end: number;
}

interface Section extends Span {
  headings: string[];
}

/**
 * Splits a Markdown file into chunks by heading, and long sections by paragraph, then by line.
 * Offsets are UTF-16 code units of the whole file, so `text.slice(start_offset, end_offset)` is the
 * chunk. Frontmatter is in no chunk; every other non-blank character is in exactly one.
 */
export function chunkMarkdown(text: string): MarkdownChunk[] {
  return [...markdownChunks(text)];
}

/** The same chunk by chunk, for callers who have other things to do. */
export function markdownChunks(text: string): Generator<MarkdownChunk> {
  const { bodyOffset } = readFrontmatter(text);
  return chunksOf(text, sectionsOf(text, bodyOffset));
}

/** Splits a file that is not Markdown by paragraph, as a long section of Markdown. */
export function plainChunks(text: string): Generator<MarkdownChunk> {
  return chunksOf(text, [{ headings: [], start: 0, end: text.length }]);
}

function* chunksOf(text: string, sections: readonly Section[]): Generator<MarkdownChunk> {
  for (const section of sections) {
    for (const span of splitSection(text, section)) {
      const content = text.slice(span.start, span.end);
      yield {
        content,
        start_offset: span.start,
        end_offset: span.end,
        token_count: countTokens(content),
        metadata: { headings: section.headings },
      };
    }
  }
}

const CJK = "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}\\p{sc=Thai}";
const TOKEN = new RegExp(
  `[${CJK}]|(?:(?![${CJK}])[\\p{L}\\p{N}\\p{M}_])+|[^\\s\\p{L}\\p{N}]`,
  "gu",
);

/** Estimates tokens without a model: words, punctuation marks, characters of unspaced scripts. */
export function countTokens(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(TOKEN)) count++;
  return count;
}

/** Sections by heading. A heading that no text follows is part of the next section. */
function sectionsOf(text: string, bodyOffset: number): Section[] {
  const sections: Section[] = [];
  const open: Heading[] = [];
  let current: Section = { headings: [], start: bodyOffset, end: bodyOffset };
  let bodyStart = bodyOffset;
  for (const heading of scanHeadings(text, bodyOffset)) {
    while (open.length > 0 && (open.at(-1) as Heading).level >= heading.level) open.pop();
    open.push(heading);
    const headings = open.map((each) => each.text).filter((each) => each !== "");
    if (isBlank(text, bodyStart, heading.start)) {
      current = { ...current, headings };
    } else {
      sections.push({ ...current, end: heading.start });
      current = { headings, start: heading.start, end: heading.start };
    }
    bodyStart = heading.end;
  }
  sections.push({ ...current, end: text.length });
  return sections;
}

function isBlank(text: string, start: number, end: number): boolean {
  return text.slice(start, end).trim() === "";
}

/** Fills spans with whole paragraphs up to the target size. */
function splitSection(text: string, section: Span): Span[] {
  const spans: Span[] = [];
  let current: Span | null = null;
  for (const block of blocksOf(text, section)) {
    if (current !== null && block.end - current.start <= CHUNK_TARGET_CHARS) {
      current.end = block.end;
    } else {
      if (current !== null) spans.push(current);
      current = { ...block };
    }
  }
  if (current !== null) spans.push(current);
  return spans.map((span) => trimSpan(text, span)).filter((span) => span.end > span.start);
}

/** Paragraphs. One longer than the maximum is split at line breaks, sentences or spaces. */
function blocksOf(text: string, section: Span): Span[] {
  const blocks: Span[] = [];
  let start = section.start;
  const slice = text.slice(section.start, section.end);
  for (const gap of slice.matchAll(/\n[ \t]*(?:\r?\n[ \t]*)+/g)) {
    const end = section.start + gap.index + gap[0].length;
    pushSplit(text, { start, end }, blocks);
    start = end;
  }
  pushSplit(text, { start, end: section.end }, blocks);
  return blocks;
}

function pushSplit(text: string, span: Span, blocks: Span[]): void {
  let { start } = span;
  while (span.end - start > CHUNK_MAX_CHARS) {
    const end = splitPoint(text, start, start + CHUNK_MAX_CHARS);
    blocks.push({ start, end });
    start = end;
  }
  if (span.end > start) blocks.push({ start, end: span.end });
}

function splitPoint(text: string, start: number, latest: number): number {
  const earliest = start + CHUNK_MAX_CHARS / 2;
  // Searching only the window keeps the cost linear in files without separators.
  const window = text.slice(earliest, latest);
  for (const separator of ["\n", ". ", " "]) {
    const at = window.lastIndexOf(separator);
    if (at >= 0) return earliest + at + separator.length;
  }
  // Never inside a surrogate pair.
  const unit = text.charCodeAt(latest - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? latest - 1 : latest;
}

function trimSpan(text: string, span: Span): Span {
  const slice = text.slice(span.start, span.end);
  const start = span.start + (slice.length - slice.trimStart().length);
  return { start, end: Math.max(start, span.start + slice.trimEnd().length) };
}

import { type Block, type Heading, readBlocks } from "./blocks.ts";
import { readFrontmatter } from "./frontmatter.ts";
import type { ParsedMarkdown } from "./types.ts";

const TITLE_MAX_CHARS = 512;
const MARKDOWN_PATH = /\.(?:md|mdx|markdown)$/i;
/** Files that are stored as Markdown have its ending after their own. */
const CONVERTED = /(?<=.)\.(?:html?|adoc|asciidoc|pdf|docx)$/i;

/**
 * Parses a Markdown file. Never throws.
 *
 * @param path decides the title of a file without one
 */
export function parseMarkdown(path: string, text: string): ParsedMarkdown {
  const { entries, unread, bodyOffset, warning } = readFrontmatter(text);
  const headings: Heading[] = [];
  const title = new TitleHeading(unread === null);
  const parts = unread === null ? [] : [text.slice(unread.start, unread.end)];
  for (const block of readBlocks(text, bodyOffset)) {
    title.add(block);
    headings.push(...block.headings);
    const part = block.text();
    if (part !== "") parts.push(part);
  }
  return {
    title: titleOf(path, entries, title.text),
    headings: headings.map((heading) => heading.text).filter((heading) => heading !== ""),
    frontmatter: entries,
    content: parts.join("\n\n"),
    bodyOffset,
    warning,
  };
}

/** Finds the headings of a Markdown file block by block, so that callers can pause in between. */
export function* headingsOf(text: string): Generator<readonly Heading[]> {
  const { bodyOffset } = readFrontmatter(text);
  for (const { headings } of readBlocks(text, bodyOffset)) {
    yield headings.filter((heading) => heading.text !== "");
  }
}

/** The text of a part of a Markdown file as a reader sees it. */
export function plainText(markdown: string): string {
  const parts: string[] = [];
  for (const block of readBlocks(markdown, 0)) {
    parts.push(...block.headings.map((heading) => heading.text), block.text());
  }
  return parts.filter((part) => part !== "").join("\n\n");
}

/** True for files that are read as Markdown. */
export function isMarkdownPath(path: string): boolean {
  return MARKDOWN_PATH.test(path);
}

/** The title of a file: that of its Markdown, else its name. `content` is null for a file without text. */
export function fileTitle(path: string, content: string | null): string {
  const search = titleSearch(path, content);
  for (;;) {
    const { done, value } = search.next();
    if (done) return value;
  }
}

/** The same block by block, so that callers can pause in between. Returns the title. */
export function* titleSearch(path: string, content: string | null): Generator<undefined, string> {
  if (content === null || !isMarkdownPath(path)) return titleOf(path, [], undefined);
  const { entries, unread, bodyOffset } = readFrontmatter(content);
  if (namedTitle(entries) !== undefined) return titleOf(path, entries, undefined);
  const title = new TitleHeading(unread === null);
  for (const block of readBlocks(content, bodyOffset)) {
    title.add(block);
    if (title.isMain) break;
    yield;
  }
  return titleOf(path, entries, title.text);
}

const hasText = ({ text }: Heading) => text !== "";

/**
 * The heading of a Markdown body that is its title: the first of level 1, else a heading without visible text before
 * it. A lower heading further down belongs to a section, such as "Options".
 */
class TitleHeading {
  text: string | undefined;
  /** Whether the heading is of level 1, which later headings do not replace. */
  isMain = false;

  /** @param isFirst whether no visible text is before the body */
  constructor(private isFirst: boolean) {}

  add(block: Block): void {
    const main = block.headings.find((heading) => heading.level === 1 && hasText(heading));
    const first = block.isHeading ? block.headings.find(hasText) : undefined;
    if (main !== undefined && !this.isMain) {
      this.text = main.text;
      this.isMain = true;
    } else if (this.isFirst) {
      this.text = first?.text;
    }
    const isEmptyHeading = block.isHeading && first === undefined;
    if (this.isFirst && !isEmptyHeading) this.isFirst = !block.isVisible();
  }
}

function namedTitle(entries: ParsedMarkdown["frontmatter"]): string | undefined {
  return entries.find(({ key }) => key.toLowerCase() === "title")?.value.trim() || undefined;
}

function titleOf(
  path: string,
  entries: ParsedMarkdown["frontmatter"],
  heading: string | undefined,
): string {
  const title = namedTitle(entries) ?? heading ?? fileName(path);
  // Escapes of YAML stand for any character, and the cut may have left half of a surrogate pair.
  return title.slice(0, TITLE_MAX_CHARS).toWellFormed().replaceAll("\0", "\ufffd");
}

function fileName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return MARKDOWN_PATH.test(name) ? name.replace(MARKDOWN_PATH, "").replace(CONVERTED, "") : name;
}

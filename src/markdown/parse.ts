import { HEADING_MAX_CHARS } from "../shared/limits.ts";
import { readFrontmatter } from "./frontmatter.ts";
import { type Heading, scanHeadings } from "./headings.ts";
import type { ParsedMarkdown } from "./types.ts";

const TITLE_MAX_CHARS = 512;

/**
 * Parses a Markdown file. Never throws.
 *
 * @param path decides the title if the file has none
 */
export function parseMarkdown(path: string, text: string): ParsedMarkdown {
  const { entries, bodyOffset, warning } = readFrontmatter(text);
  const headings = scanHeadings(text, bodyOffset);
  return {
    title: titleOf(path, entries, headings),
    headings: headings.map((heading) => heading.text).filter((heading) => heading !== ""),
    frontmatter: entries,
    content: withoutHeadings(text, bodyOffset, headings),
    bodyOffset,
    warning,
  };
}

/** True for files that are read as Markdown. */
export function isMarkdownPath(path: string): boolean {
  return /\.mdx?$/i.test(path);
}

/** The title of a file: that of its Markdown, else its name. `content` is null if it has none. */
export function fileTitle(path: string, content: string | null): string {
  if (content === null || !isMarkdownPath(path)) return titleOf(path, [], []);
  const { entries, bodyOffset } = readFrontmatter(content);
  return titleOf(path, entries, scanHeadings(content, bodyOffset));
}

function titleOf(
  path: string,
  entries: ParsedMarkdown["frontmatter"],
  headings: readonly Heading[],
): string {
  const named = entries.find((entry) => entry.key.toLowerCase() === "title")?.value.trim();
  const first = headings.find((heading) => heading.level === 1 && heading.text !== "");
  const title = named || (first?.text ?? fileName(path));
  // Escapes of YAML stand for any character, and the cut may have left half of a surrogate pair.
  return title.slice(0, TITLE_MAX_CHARS).toWellFormed().replaceAll("\0", "\ufffd");
}

function fileName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.replace(/\.(?:md|mdx)$/i, "");
}

function withoutHeadings(text: string, bodyOffset: number, headings: readonly Heading[]): string {
  const parts: string[] = [];
  let from = bodyOffset;
  for (const heading of headings) {
    parts.push(text.slice(from, heading.start));
    // The heading was truncated: index the whole of it as content.
    if (heading.text.length >= HEADING_MAX_CHARS)
      parts.push(text.slice(heading.start, heading.end));
    from = heading.end;
  }
  parts.push(text.slice(from));
  return parts.join("");
}

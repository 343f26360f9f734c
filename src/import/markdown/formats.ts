/** Formats beside Markdown that are imported on request; they are converted to Markdown. */
export interface FormatOptions {
  readonly html?: boolean | undefined;
  readonly asciidoc?: boolean | undefined;
}

const MARKDOWN = /\.(?:md|mdx|markdown)$/i;
const HTML = /\.html?$/i;
const ASCIIDOC = /\.(?:adoc|asciidoc)$/i;

/** True for a file that is imported. */
export function isWanted(path: string, { html, asciidoc }: FormatOptions): boolean {
  return (
    MARKDOWN.test(path) ||
    (html === true && HTML.test(path)) ||
    (asciidoc === true && ASCIIDOC.test(path))
  );
}

/** The path under which a file is stored: what is converted is Markdown, and named so. */
export function storedPath(path: string): string {
  return HTML.test(path) || ASCIIDOC.test(path) ? `${path}.md` : path;
}

/** The text of a file as Markdown. Converters are loaded when they are needed. Throws a RecordError. */
export async function toMarkdown(path: string, text: string): Promise<string> {
  if (HTML.test(path)) return (await import("./html.ts")).htmlToMarkdown(text);
  if (ASCIIDOC.test(path)) return await (await import("./asciidoc.ts")).asciidocToMarkdown(text);
  return text;
}

import { RecordError } from "../records/errors.ts";
import { htmlToMarkdown } from "./html.ts";

/** The Markdown of a document that was read as HTML, with its title in the frontmatter. Throws a RecordError. */
export function documentMarkdown(title: string | undefined, html: string): string {
  const text = htmlToMarkdown(html.replaceAll("\0", "\ufffd"));
  if (text.trim() === "") throw new RecordError("has no text");
  if (title === undefined) return text;
  // JSON is YAML. Whatever a file says of itself stands on one line.
  const line = JSON.stringify(title.replace(/\p{C}/gu, " ").replace(/\s+/g, " ").trim());
  return `---\ntitle: ${line}\n---\n\n${text}\n`;
}

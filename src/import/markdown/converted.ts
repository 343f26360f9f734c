import { RecordError } from "../records/errors.ts";
import { htmlToMarkdown } from "./html.ts";

/**
 * The Markdown of a document that was read as HTML, with its title, if it has one, in the frontmatter. Throws a
 * RecordError.
 */
export function documentMarkdown(title: string | undefined, html: string): string {
  const text = htmlToMarkdown(html.replaceAll("\0", "\ufffd"));
  if (text.trim() === "") throw new RecordError("has no text");
  // The title may contain line breaks, which would end the line of the frontmatter.
  const line = title?.replace(/\p{C}/gu, " ").replace(/\s+/g, " ").trim() ?? "";
  // JSON is YAML.
  return line === "" ? text : `---\ntitle: ${JSON.stringify(line)}\n---\n\n${text}\n`;
}

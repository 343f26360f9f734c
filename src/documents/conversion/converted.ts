import { RecordError } from "../errors.ts";
import { htmlToMarkdown } from "./html.ts";
import { bodyHeight, type Line, SIZE_FACTOR } from "./pdf-lines.ts";

/** A title of several lines is cut off after this many characters. */
const TITLE_MAX_CHARS = 200;

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

/** Placeholders that programs write instead of a title. */
const USELESS = [
  /^[^\p{L}\p{N}]*$/u,
  /^\W*(?:untitled|unbenannt|ohne titel|sans titre|sin título|senza titolo|sem título|无标题|無題)(?:[-\s]*\d*)?\W*$/iu,
  /^\W*(?:anonymous|unknown|unnamed|none|null|title|no title)\W*$/i,
  /^(?:document|dokument|documento|presentation|präsentation|présentation|book|slide|page)[-\s]*\d+$/iu,
  /^(?:powerpoint[- ]presentation|powerpoint-präsentation|présentation powerpoint)$/iu,
  /^microsoft (?:word|powerpoint|excel|publisher|visio|office \w+) - /i,
  /\.(?:docx?|docm|dotx?|rtf|odt|pages|pdf|e?ps|dvi|tex|ltx|indd|qx[dp]|fm|pptx?|odp|key|xlsx?|ods|html?|xml|md|txt|pub|vsdx?|ai|cdr|jpe?g|png|tiff?|p65|pmd|wpd|sxw)$/i,
];

/** The title that a document gives itself; undefined if it names no content. */
export function usefulTitle(title: unknown): string | undefined {
  if (typeof title !== "string") return undefined;
  const own = title.replace(/[\p{C}\s]+/gu, " ").trim();
  return USELESS.some((useless) => useless.test(own)) ? undefined : own;
}

/** The first large line of the first page that has any text, with the lines of the same size after it. */
export function largeTitle(pages: readonly (readonly Line[])[]): string | undefined {
  const least = SIZE_FACTOR * bodyHeight(pages.flat());
  const first = pages.find((page) => page.length > 0) ?? [];
  // A stamp at the edge of the page may be as large.
  const lines = first.filter(({ isTurned }) => !isTurned);
  const start = lines.findIndex(({ text, height }) => height > least && /\p{L}{2}/u.test(text));
  if (start < 0) return undefined;
  const { height } = lines[start] as Line;
  const rest = lines.slice(start);
  const end = rest.findIndex((line) => Math.abs(line.height - height) > 0.1 * height);
  const texts = rest.slice(0, end < 0 ? rest.length : end).map(({ text }) => text);
  return usefulTitle(texts.join(" ").slice(0, TITLE_MAX_CHARS));
}

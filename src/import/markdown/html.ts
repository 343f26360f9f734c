import TurndownService from "turndown";
import { HTML_MAX_CHARS, HTML_MAX_DEPTH } from "../../shared/limits.ts";
import { RecordError } from "../records/errors.ts";

const HTML = /\.html?$/i;
const TAG = /<(\/?)([a-z][a-z0-9-]*)/gi;
/** Elements without an end tag, or whose end tag is often left out. */
const UNCLOSED =
  /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|colgroup|html|head|body)$/i;

/** True for a file that is converted to Markdown. */
export function isHtml(path: string): boolean {
  return HTML.test(path);
}

/** The path under which a file is stored: what is converted is Markdown, and named so. */
export function storedPath(path: string): string {
  return isHtml(path) ? `${path}.md` : path;
}

const converter = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" });
// The title of a page is repeated in its first heading; navigation is not content.
converter.remove(["script", "style", "noscript", "title", "nav"]);

/** The Markdown of an HTML page. Throws a RecordError. */
export function htmlToMarkdown(html: string): string {
  if (html.length > HTML_MAX_CHARS) {
    throw new RecordError(`has more than ${HTML_MAX_CHARS} characters of HTML`);
  }
  // The time of the conversion grows with the square of the depth.
  if (depthOf(html) > HTML_MAX_DEPTH) throw new RecordError("is nested too deeply");
  return converter.turndown(html);
}

/** An upper bound for the nesting of elements. */
function depthOf(html: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [, end, name = ""] of html.matchAll(TAG)) {
    if (UNCLOSED.test(name)) continue;
    depth = Math.max(0, depth + (end === "/" ? -1 : 1));
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

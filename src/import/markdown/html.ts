import TurndownService from "turndown";
import { furnitureText, isFurniture, isMain, Outline } from "./html-furniture.ts";
import { parsePage } from "./html-page.ts";

type TurndownElement = Parameters<TurndownService.FilterFunction>[0];
const converter = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" });
// The title of a page is repeated in its first heading; navigation is not content.
converter.remove(["script", "style", "noscript", "template", "title", "nav", "search" as "nav"]);
converter.remove((node) =>
  /^(?:navigation|menu|menubar|search)$/.test(node.getAttribute("role") ?? ""),
);
/** Elements that a browser shows on lines of their own and Turndown as a part of the text around them. */
const OWN_LINES = /^(?:SUMMARY|DETAILS|DT|DD|LEGEND|CAPTION|OPTGROUP|DIALOG|TD|TH)$/;
/** Elements that stand beside each other with a gap between them. */
const APART = /^(?:OPTION|BUTTON|LABEL|RP|RT|OUTPUT|SELECT|TEXTAREA)$/;
const isCustom = (name: string) => name.includes("-");
converter.addRule("own lines", {
  filter: ({ nodeName }) => OWN_LINES.test(nodeName),
  replacement: (content) => `\n\n${content}\n\n`,
});
converter.addRule("apart", {
  filter: ({ nodeName }) => APART.test(nodeName) || isCustom(nodeName),
  replacement: (content) => (content.includes("\n") ? `\n\n${content}\n\n` : ` ${content.trim()} `),
});
// Turndown knows code blocks by a `code` element. Without one, lines of code could become headings.
converter.addRule("preformatted", {
  filter: (node) => node.nodeName === "PRE" && node.firstChild?.nodeName !== "CODE",
  replacement: (_, node) => fenced(node.textContent ?? ""),
});

converter.addRule("furniture", { filter: isFurniture, replacement: furnitureText });

/**
 * Items and quotes in each other that are shown as such. Markdown reads no more of them, and each indents all lines that it
 * contains: the text and the time to write it grow with the square and the third power of their number.
 */
const INDENTS_MAX = 50;
const INDENTED = /^(?:LI|BLOCKQUOTE)$/;

function isIndentedTooFar(node: TurndownElement): boolean {
  if (!INDENTED.test(node.nodeName)) return false;
  let indents = 0;
  for (let at = node.parentElement; at !== null; at = at.parentElement) {
    if (INDENTED.test(at.nodeName) && ++indents === INDENTS_MAX) return true;
  }
  return false;
}

/** The outline of the page that is being converted: the converter hands its rules nothing but elements. */
let outline = new Outline();
converter.addRule("main", {
  filter: isMain,
  replacement: (content) => {
    outline.addMain(content);
    return `\n\n${content}\n\n`;
  },
});
converter.addRule("title", {
  filter: "h1",
  replacement: (content, node) => {
    const title = `# ${content}`;
    outline.addTitle(title, node as TurndownElement);
    return `\n\n${title}\n\n`;
  },
});

// The rule that was added last is asked first.
converter.addRule("far indented", {
  filter: isIndentedTooFar,
  replacement: (content) => `\n\n${content}\n\n`,
});

function fenced(text: string): string {
  const runs = text.match(/`+/g) ?? [];
  const longest = runs.reduce((length, run) => Math.max(length, run.length), 0);
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `\n\n${fence}\n${text.replace(/\n$/, "")}\n${fence}\n\n`;
}

/** The Markdown of an HTML page. Throws a RecordError if its elements are nested too deeply. */
export function htmlToMarkdown(html: string): string {
  outline = new Outline();
  return outline.textOf(converter.turndown(parsePage(html)));
}

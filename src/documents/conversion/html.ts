import TurndownService from "turndown";
import { type CodeNode, codeBlock, isLineNumbers } from "./html-code.ts";
import { furnitureText, isFurniture, isMain, Outline } from "./html-furniture.ts";
import { parsePage } from "./html-page.ts";
import {
  dataTable,
  dataTableOf,
  isDataTable,
  type TableNode,
  tableCell,
  tableRow,
} from "./html-table.ts";

type TurndownElement = Parameters<TurndownService.FilterFunction>[0];
const converter = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" });
/** Signs that begin markup in Markdown and its dialects, besides those that the converter escapes. Readers of a page see them. */
const MARKUP = new RegExp(
  [
    // Elements, comments and addresses; entities.
    /<(?=[A-Za-z/!?%>])|&(?=#?\w{1,32};)/,
    // Parts of templates, attributes and anchors; comments.
    /\{(?=\s*[{%:#./])|%(?=%)/,
    // Text that is deleted or marked.
    /(?<!\\)~(?=~)|(?<=~)~|(?<!\\)=(?==[^\s=])|(?<=[^\s=\\])=(?==)/,
    // Names of paragraphs; admonitions.
    /(?<!\S)\^|^:(?=::)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);
const escaped = converter.escape.bind(converter);
converter.escape = (text) => escaped(text).replace(MARKUP, "\\$&");
// Navigation is not content.
converter.remove(["script", "style", "noscript", "template", "nav", "search" as "nav"]);
converter.remove((node) =>
  /^(?:navigation|menu|menubar|search)$/.test(node.getAttribute("role") ?? ""),
);
/** Elements that a browser shows on lines of their own and Turndown as a part of the text around them. */
const OWN_LINES = /^(?:SUMMARY|DETAILS|DT|DD|LEGEND|CAPTION|OPTGROUP|DIALOG|TD|TH)$/;
/** Inline elements with a gap between them. */
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
converter.addRule("line numbers", {
  filter: (node) => isLineNumbers(node as unknown as CodeNode),
  replacement: () => "",
});
/** The source of an equation, which accompanies its drawing. */
const EQUATION = 'annotation[encoding="application/x-tex"]';
converter.addRule("equations", {
  filter: "math" as "mark",
  replacement: (content, node) => {
    const source = (node as TurndownElement).querySelector(EQUATION)?.textContent;
    return source ? converter.escape(source.trim()) : content;
  },
});
converter.addRule("code", {
  filter: "pre",
  replacement: (_, node) => codeBlock(node as unknown as CodeNode),
});
converter.addRule("data tables", {
  filter: (node) => node.nodeName === "TABLE" && isDataTable(node as TableNode),
  replacement: dataTable,
});
converter.addRule("rows of data tables", {
  filter: (node) => node.nodeName === "TR" && dataTableOf(node as TableNode) !== undefined,
  replacement: (_, node) => tableRow(node as TableNode),
});
converter.addRule("cells of data tables", {
  filter: (node) => /^T[DH]$/.test(node.nodeName) && dataTableOf(node as TableNode) !== undefined,
  replacement: (content, node) => tableCell(content, node as TableNode),
});
converter.addRule("powers", {
  filter: "sup",
  replacement: (content) => content.replace(/^\\?([-\u2212+]?\d+)$/, "^$1"),
});
converter.addRule("keys", {
  filter: "kbd",
  replacement: (content, { previousSibling }) =>
    previousSibling?.nodeName === "KBD" ? ` ${content}` : content,
});
/** An image or a link whose address is its content has no readable address. */
const EMBEDDED = /^\s*data:/i;
converter.addRule("embedded content", {
  filter: (node) =>
    EMBEDDED.test(node.getAttribute(node.nodeName === "IMG" ? "src" : "href") ?? ""),
  replacement: (content, node) => content || ((node as TurndownElement).getAttribute("alt") ?? ""),
});
converter.addRule("anchors of headings", { filter: isHeadingAnchor, replacement: () => "" });

const HEADING = /^H[1-6]$/;
/** The signs that sites show for a link to a heading. */
const ANCHOR_SIGNS = /^[^\p{L}\p{N}]*$/u;
const ANCHOR_CLASS =
  /(?:^|[\s-])(?:anchor|headerlink|hash-link|permalink|anchor-link|header-anchor)(?:\s|$)/;

/** Whether an element links a heading to itself, with a sign or for screen readers. */
function isHeadingAnchor(node: TurndownElement): boolean {
  if (node.nodeName !== "A" || !node.getAttribute("href")?.includes("#")) return false;
  const { parentNode: parent } = node;
  const isAtHeading = [parent, parent?.firstChild].some((each) =>
    HEADING.test(each?.nodeName ?? ""),
  );
  if (!isAtHeading) return false;
  return (
    ANCHOR_SIGNS.test(node.textContent ?? "") ||
    (ANCHOR_CLASS.test(node.className) && parent?.firstChild !== parent?.lastChild)
  );
}

/** The title in the head of a page, without the name of its site. */
converter.addRule("head title", {
  filter: "title",
  replacement: (_, node) => {
    const [own = ""] = (node.textContent ?? "").trim().split(/\s+[|\u00b7\u2014\u2013]\s+/);
    if (!/^svg$/i.test(node.parentNode?.nodeName ?? ""))
      outline.addHeadTitle(converter.escape(own.replace(/\s+/g, " ")));
    return "";
  },
});

converter.addRule("furniture", { filter: isFurniture, replacement: furnitureText });

/**
 * Maximum depth of nested items and quotes. Markdown reads no deeper ones. Each level indents all of its lines, so the
 * text grows with the square of the depth, and the time to write it with the cube.
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

/**
 * The outline of the page that is being converted. It is global because the converter passes only elements to its
 * rules.
 */
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

// The converter tries the last added rule first.
converter.addRule("far indented", {
  filter: isIndentedTooFar,
  replacement: (content) => `\n\n${content}\n\n`,
});

/** The Markdown of an HTML page. Throws a RecordError if its elements are nested too deeply. */
export function htmlToMarkdown(html: string): string {
  outline = new Outline();
  return outline.textOf(converter.turndown(parsePage(html)));
}

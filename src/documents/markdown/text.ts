import type { Token } from "markdown-it";
import { HEADING_MAX_CHARS } from "../../domain/limits.ts";
import { dialect } from "./dialect.ts";
import { htmlText, onOneLine } from "./html.ts";

/** State of the parser for the whole text: the labels of definitions. */
export type Env = Record<string, unknown>;

/** Longer paragraphs are read in pieces, because the time for links that are not closed grows faster than the text. */
const INLINE_PIECE_CHARS = 2_048;
/** The beginning of a callout, such as `[!NOTE]`, or of an item of a task list. */
const MARKER = /^(?:\[![\w -]+(?:\|[^\]\n]*)?\][+-]?|\[[ xX]\](?=\s))/;
/** The lines around an admonition; the text after its kind is its title, also in brackets. */
const ADMONITION = /^:{3,}[ \t]*[\w-]*(?:\[([^\]\n]*)\])?(?:\{[^}\n]*\})?/gm;

/** The text of a heading, from its Markdown. */
export function headingText(markdown: string, env: Env): string {
  // A heading that is longer than its text may be is cut before it is read.
  const whole = onOneLine(inlineText(markdown.slice(0, 4 * HEADING_MAX_CHARS), env));
  // The cut may have left half of a surrogate pair, which cannot be stored.
  return whole.slice(0, HEADING_MAX_CHARS).toWellFormed();
}

/** The text that a reader sees of blocks, without their headings. */
export function textOfTokens(tokens: readonly Token[], env: Env): string {
  const texts: string[] = [];
  tokens.forEach(({ type, content }, i) => {
    if (type === "fence" || type === "code_block") texts.push(content.trimEnd());
    else if (type === "html_block") texts.push(htmlText(content));
    else if (type === "inline") {
      const isHeading = tokens[i - 1]?.type === "heading_open";
      // A heading at the maximum length was cut, so its whole text belongs to the content.
      if (!isHeading || content.length >= HEADING_MAX_CHARS) texts.push(blockText(content, env));
    }
  });
  return texts.filter((text) => text !== "").join("\n");
}

function blockText(markdown: string, env: Env): string {
  const unmarked = markdown.replace(MARKER, "");
  return inlineText(
    unmarked.includes(":::") ? unmarked.replace(ADMONITION, "$1") : unmarked,
    env,
  ).trim();
}

function inlineText(markdown: string, env: Env): string {
  if (!/[^\p{L}\p{N} .,;'"()?\n-]/u.test(markdown)) return markdown;
  let text = "";
  for (let start = 0; start < markdown.length; ) {
    const end = pieceEnd(markdown, start);
    const tokens: Token[] = [];
    dialect.inline.parse(markdown.slice(start, end), dialect, env, tokens);
    text += textOfInline(tokens);
    start = end;
  }
  return text;
}

function pieceEnd(markdown: string, start: number): number {
  const latest = start + INLINE_PIECE_CHARS;
  if (latest >= markdown.length) return markdown.length;
  const space = markdown.slice(start, latest).lastIndexOf(" ");
  if (space > INLINE_PIECE_CHARS / 2) return start + space;
  const unit = markdown.charCodeAt(latest - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? latest - 1 : latest;
}

function textOfInline(tokens: readonly Token[]): string {
  let text = "";
  for (const { type, content, children } of tokens) {
    if (type === "text" || type === "text_special" || type === "code_inline") text += content;
    else if (type === "softbreak" || type === "hardbreak") text += "\n";
    else if (type === "html_inline" || type === "footnote_ref") text += " ";
    else if (children !== null) text += textOfInline(children);
  }
  return text;
}

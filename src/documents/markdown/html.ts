import { dialect, TEMPLATE } from "./dialect.ts";

export interface HtmlHeading {
  readonly level: number;
  readonly text: string;
}

const HEADING = /<h([1-6])\b[^<>]*>((?:[^<]|<(?!\/?h[1-6]\b))*)<\/h\1\s*>/gi;
/** The beginnings of parts that a reader does not see. */
const HIDDEN = /<!--|<!\[cdata\[|<[!?](?=[a-z])|\{\/\*|<(script|style|template)\b/gi;
const CLOSINGS: Readonly<Record<string, string>> = {
  "<!--": "-->",
  "<![cdata[": "]]>",
  "<!": ">",
  "<?": "?>",
  "{/*": "*/}",
};
const TAG = /<\/?[a-zA-Z][^<>]*>/g;
const TEMPLATES = new RegExp(TEMPLATE, "g");
const ENTITY = /&#?\w{1,32};/g;

/** The headings of a block of HTML. */
export function htmlHeadings(html: string): HtmlHeading[] {
  if (!/<h[1-6]\b/i.test(html)) return [];
  return [...withoutHidden(html).matchAll(HEADING)].map(([, level, inner = ""]) => ({
    level: Number(level),
    text: onOneLine(tagless(inner)),
  }));
}

/** The text of HTML without its headings, comments and scripts. */
export function htmlText(html: string): string {
  return tagless(withoutHidden(html).replace(HEADING, " ")).trim();
}

export function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function tagless(html: string): string {
  const text = html.replace(TAG, " ").replace(TEMPLATES, " ");
  return text.replace(ENTITY, (entity) => dialect.utils.unescapeAll(entity));
}

/** Takes time linear in the length, also for HTML with unclosed parts. */
function withoutHidden(html: string): string {
  HIDDEN.lastIndex = 0;
  if (!HIDDEN.test(html)) return html;
  const lower = html.toLowerCase();
  let kept = "";
  for (let at = 0; ; ) {
    HIDDEN.lastIndex = at;
    const match = HIDDEN.exec(lower);
    if (match === null) return kept + html.slice(at);
    kept += `${html.slice(at, match.index)} `;
    const [opening, element] = match;
    const closing = CLOSINGS[opening] ?? `</${element}>`;
    const end = lower.indexOf(closing, match.index + opening.length);
    if (end < 0) return kept;
    at = end + closing.length;
  }
}

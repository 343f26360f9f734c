const TAG = /<(\/?)([a-z][a-z0-9-]*)/gi;
/** Elements without an end tag, or whose end tag is often left out. */
const UNCLOSED =
  /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|colgroup|html|head|body)$/;
/** Elements that a parser opens again in what follows, until their end tag. */
const FORMATTING = /^(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)$/;
/** Elements that the end tag of an element which is not among them does not close. */
const SPECIAL =
  /^(?:address|annotation-xml|applet|article|aside|blockquote|button|caption|center|desc|details|dialog|dir|div|dl|fieldset|figcaption|figure|footer|foreignobject|form|frameset|h[1-6]|header|hgroup|iframe|listing|main|marquee|menu|mi|mn|mo|ms|mtext|nav|noembed|noframes|noscript|object|ol|plaintext|pre|script|search|section|select|style|summary|table|template|textarea|title|ul|xmp)$/;
/** Elements whose start tag ends the SVG or the formula around it. */
const BREAKOUT =
  /^(?:b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|embed|h[1-6]|head|hr|i|img|li|listing|menu|meta|nobr|ol|p|pre|ruby|s|small|span|strike|strong|sub|sup|table|tt|u|ul|var)$/;
/** Elements that no end tag inside them closes. */
const BOUNDARY = /^(?:table|object|marquee|applet|template|svg|math|select|button)$/;
/** Elements of an SVG or a formula that have HTML inside. */
const HTML_INSIDE = /^(?:annotation-xml|desc|foreignobject|mi|mn|mo|ms|mtext|title)$/;

/**
 * An estimate of how deeply the elements of a page are nested, in one pass and without a tree. It counts
 * at least what a parser nests, except for elements whose end tag is optional: end tags that a parser
 * ignores close nothing here either. It is not continued above `limit`.
 */
export function depthOf(html: string, limit: number): number {
  const open: string[] = [];
  let deepest = 0;
  for (const [, end, tag = ""] of html.matchAll(TAG)) {
    const name = tag.toLowerCase();
    if (end === "" && BREAKOUT.test(name)) breakOut(open);
    if (UNCLOSED.test(name)) continue;
    if (end === "/") close(open, name);
    else open.push(name);
    deepest = Math.max(deepest, open.length);
    if (deepest > limit) break;
  }
  return deepest;
}

/** Lets no end tag close what is in an SVG or a formula, because the parser has closed that already. */
function breakOut(open: string[]): void {
  if (!open.includes("svg") && !open.includes("math")) return;
  const outside = open.findLastIndex((each) => HTML_INSIDE.test(each)) + 1;
  const root = open.findIndex((each, at) => at >= outside && (each === "svg" || each === "math"));
  if (root >= 0) open.fill("", root);
}

/** Removes what an end tag closes from the open elements, outermost first. */
function close(open: string[], name: string): void {
  const at = open.lastIndexOf(name);
  if (at < 0) return;
  const inside = open.slice(at + 1);
  if (FORMATTING.test(name)) {
    open.splice(at, 1);
  } else if (!inside.some((each) => (SPECIAL.test(name) ? BOUNDARY : SPECIAL).test(each))) {
    open.splice(at, Infinity, ...inside.filter((each) => FORMATTING.test(each)));
  }
}

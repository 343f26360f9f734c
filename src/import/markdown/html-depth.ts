const TAG = /<(\/?)([a-z][a-z0-9-]*)/gi;
/** Elements without an end tag, or whose end tag is often left out. */
const UNCLOSED =
  /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|colgroup|html|head|body)$/;
/** Elements that a parser opens again in what follows, until their end tag. */
const FORMATTING = /^(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)$/;
/** Elements whose end tag does not close another one around it. */
const ORDINARY =
  /^(?:abbr|bdi|bdo|cite|data|del|dfn|ins|kbd|label|mark|q|samp|span|sub|sup|time|var)$/;
/** Elements that no end tag inside them closes. */
const BOUNDARY = /^(?:table|object|marquee|applet|template|svg|math|select|button)$/;

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
    if (UNCLOSED.test(name)) continue;
    if (end === "/") close(open, name);
    else open.push(name);
    deepest = Math.max(deepest, open.length);
    if (deepest > limit) break;
  }
  return deepest;
}

/** Removes what an end tag closes from the open elements, outermost first. */
function close(open: string[], name: string): void {
  const at = open.lastIndexOf(name);
  if (at < 0) return;
  const inside = open.slice(at + 1);
  if (FORMATTING.test(name)) {
    open.splice(at, 1);
  } else if (inside.every((each) => FORMATTING.test(each) || ORDINARY.test(each))) {
    open.splice(at, Infinity, ...inside.filter((each) => FORMATTING.test(each)));
  } else if (!ORDINARY.test(name) && !inside.some((each) => BOUNDARY.test(each))) {
    open.splice(at, Infinity, ...inside.filter((each) => FORMATTING.test(each)));
  }
}

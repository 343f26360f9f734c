import { textOfUnits, unitsOf } from "../analysis/text-units.ts";

const TEXT = 0;
const SPACE = 1;
/** A character that is left out. */
const MARK = 2;
const NEWLINE = 3;
const TAG_START = 4;
const LINK_START = 5;
const IMAGE_START = 6;

/** What `\s` of a regular expression matches, and the bar between the cells of a table. */
const SPACES =
  "|\t\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a" +
  "\u2028\u2029\u202f\u205f\u3000\ufeff";

/** What each UTF-16 code unit may begin. */
const KINDS = new Uint8Array(65_536).fill(TEXT);
for (const [characters, kind] of [
  [SPACES, SPACE],
  ["*`~", MARK],
  ["\n", NEWLINE],
  ["<", TAG_START],
  ["[", LINK_START],
  ["!", IMAGE_START],
] as const) {
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind;
}

/** A fence, or the marker of a heading, list or quote, at the start of a line. */
const LINE_START = /[ \t]*(?:(?:`{3,}|~{3,})[^\n]*|(?:#{1,6}|[-+*>]|\d{1,3}[.)])[ \t]+)/y;
/** What LINE_START may begin with. */
const LINE_STARTERS = new Set(
  [..." \t`~#-+*>0123456789"].map((character) => character.charCodeAt(0)),
);
const LINK = /\[([^\][]*)\]\([^()\s]*\)/y;
const TAG = /<\/?[a-zA-Z][^<>]*>/y;

/** Where the text of a line starts that begins at the position. */
function lineTextAt(text: string, position: number): number {
  if (!LINE_STARTERS.has(text.charCodeAt(position))) return position;
  return endOf(LINE_START, text, position);
}

/** Where a match that starts at the position ends; the position itself if there is none. */
function endOf(pattern: RegExp, text: string, position: number): number {
  pattern.lastIndex = position;
  return pattern.test(text) ? pattern.lastIndex : position;
}

/**
 * Reduces Markdown to the text that a reader sees, on one line. It works on a cut-out, so it leaves
 * what it cannot be sure of. No pattern can restart within its own match, so it takes linear time.
 */
export function plainText(markdown: string): string {
  return textOfUnits(markdown.length, (into) => writePlain(markdown, into));
}

function writePlain(markdown: string, into: Uint16Array): number {
  const units = unitsOf(markdown);
  let length = 0;
  let isSpaced = false;
  /** The part of the current link behind its text. */
  let target = { start: -1, end: -1 };
  let i = lineTextAt(markdown, 0);
  while (i < markdown.length) {
    if (i === target.start) {
      i = target.end;
      continue;
    }
    const kind = KINDS[units[i] as number] as number;
    let next = i;
    if (kind === SPACE) next = i + 1;
    else if (kind === NEWLINE) next = lineTextAt(markdown, i + 1);
    else if (kind === TAG_START) next = endOf(TAG, markdown, i);
    if (next > i) {
      isSpaced = true;
      i = next;
      continue;
    }
    if (kind === LINK_START) {
      const link = linkAt(markdown, i);
      if (link !== null) target = link;
      if (link !== null) next = i + 1;
    } else if (kind === IMAGE_START) next = linkAt(markdown, i + 1) === null ? i : i + 1;
    else if (kind === MARK) next = i + 1;
    if (next > i) {
      i = next;
      continue;
    }
    if (isSpaced && length > 0) into[length++] = 0x20;
    isSpaced = false;
    into[length++] = units[i++] as number;
  }
  return length;
}

/** The part of a link behind its text: a half-open range; null if no link starts here. */
function linkAt(markdown: string, position: number): { start: number; end: number } | null {
  LINK.lastIndex = position;
  const match = LINK.exec(markdown);
  if (match === null) return null;
  return { start: position + 1 + (match[1] as string).length, end: LINK.lastIndex };
}

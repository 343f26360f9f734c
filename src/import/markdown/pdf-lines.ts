/** A piece of text as a PDF places it; lengths are in points. */
interface TextPiece {
  readonly str: string;
  /** A matrix, whose last two numbers are the place of the piece, from the left and from the bottom. */
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly fontName: string;
  readonly hasEOL: boolean;
}

interface Line {
  text: string;
  readonly y: number;
  readonly height: number;
  /** Where its last piece ends. */
  end: number;
  readonly fonts: Set<string>;
}

/** Lines that are farther from each other than this many heights begin a paragraph. */
const PARAGRAPH_GAP = 1.6;
/** So do letters that are larger or smaller by more than this factor. */
const SIZE_FACTOR = 1.15;
/** Pieces that are farther from each other than this part of their height are different words. */
const WORD_GAP = 0.15;
/** Pieces that are higher or lower than each other by more than this part of their height are on different lines. */
const LINE_SHIFT = 0.6;

const BULLET = /^[•◦▪▫■□●○♦‣⁃∙·➢➔✓]/u;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uffef]/u;
/** What leads from an entry of a table of contents to its page. */
const LEADERS = /(?:\s?\.){5,}\s?/g;

/** The paragraphs of a page: a PDF knows only where its letters are. */
export function paragraphsOf(pieces: Iterable<TextPiece>): string[] {
  const paragraphs: string[] = [];
  let before: Line | undefined;
  for (const line of linesOf(pieces)) {
    const text = line.text.replace(LEADERS, " … ").trim();
    if (before === undefined || isApart(before, line)) paragraphs.push(text);
    else paragraphs.push(joined(paragraphs.pop() ?? "", text));
    before = line;
  }
  return paragraphs;
}

function linesOf(pieces: Iterable<TextPiece>): Line[] {
  const lines: Line[] = [];
  let line: Line | undefined;
  for (const { str, transform, width, height, fontName, hasEOL } of pieces) {
    const [, , , , x = 0, y = 0] = transform;
    if (str.trim() !== "") {
      if (line === undefined || Math.abs(y - line.y) > LINE_SHIFT * Math.max(height, line.height)) {
        line = { text: "", y, height, end: x, fonts: new Set() };
        lines.push(line);
      }
      const gap = Math.abs(x - line.end);
      if (gap > height) line.text += " ";
      line.text += gap > WORD_GAP * height ? spaced(line.text, str) : str;
      line.end = x + width;
      line.fonts.add(fontName);
    } else if (line !== undefined && str !== "") line.text += " ";
    if (hasEOL) line = undefined;
  }
  return lines;
}

function isApart(before: Line, { text, y, height, fonts }: Line): boolean {
  const [smaller, larger] = [Math.min(height, before.height), Math.max(height, before.height)];
  return (
    Math.abs(before.y - y) > PARAGRAPH_GAP * larger ||
    larger > SIZE_FACTOR * smaller ||
    BULLET.test(text) ||
    fonts.isDisjointFrom(before.fonts)
  );
}

/** A word that is divided at the end of a line is one word. */
function joined(before: string, after: string): string {
  const divided = /\p{L}[-\u00ad]$/u.test(before) && /^\p{Ll}/u.test(after);
  return divided ? before.slice(0, -1) + after : before + spaced(before, after);
}

/** A text with a space before it, where what comes before it needs one. */
function spaced(before: string, text: string): string {
  const isUnspaced = UNSPACED.test(before.at(-1) ?? "") && UNSPACED.test(text.at(0) ?? "");
  return before === "" || before.endsWith(" ") || isUnspaced ? text : ` ${text}`;
}

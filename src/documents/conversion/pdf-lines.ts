/** A piece of text as a PDF places it; lengths are in points. */
interface TextPiece {
  readonly str: string;
  /** A matrix: its last two numbers are the place of the piece, from the left and from the bottom. */
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly fontName: string;
  readonly hasEOL: boolean;
}

/** A line of a page. */
export interface Line {
  text: string;
  readonly y: number;
  readonly height: number;
  /** Whether it runs up or down the page. */
  readonly isTurned: boolean;
  /** Where its last piece ends. */
  end: number;
  readonly fonts: Set<string>;
}

/** Lines that are farther from each other than this many heights begin a paragraph. */
const PARAGRAPH_GAP = 1.6;
/** So do letters that are larger or smaller by more than this factor. */
export const SIZE_FACTOR = 1.15;
/** Pieces that are farther from each other than this part of their height are different words. */
const WORD_GAP = 0.15;
/** Pieces that are higher or lower than each other by more than this part of their height are on different lines. */
const LINE_SHIFT = 0.6;
/** The end of a line in which the first part of a divided word is looked for. */
const WORD_MAX_CHARS = 100;

const BULLET = /^[•◦▪▫■□●○♦‣⁃∙·➢➔✓]/u;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uffef]/u;
/** Dots between an entry of a table of contents and its page. */
const LEADERS = /(?:\s?\.){5,}\s?/g;

const COMPOUND = /[\p{L}\p{N}]+(?:[-\u2010][\p{L}\p{N}]+)+/gu;
const FIRST_PART = /((?:[\p{L}\p{N}]+[-\u2010])*\p{L}+)([-\u2010\u00ad])$/u;
const SECOND_PART = /^[\p{L}\p{N}]+(?:[-\u2010][\p{L}\p{N}]+)*/u;
/** After such a word a hyphen stands for a part of the word that follows: `pre- and postwar`. */
const CONJUNCTION = /^(?:and|or|und|oder|sowie|bzw)$/;

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const RIGHT_TO_LEFT_LETTERS = new RegExp(RIGHT_TO_LEFT, "g");
const LEFT_TO_RIGHT_LETTERS = /\p{L}/gu;
const LEFT_TO_RIGHT = /[\p{L}\p{N}]/u;

export function linesOf(pieces: Iterable<TextPiece>): Line[] {
  const lines: (Line & { readonly parts: LinePart[] })[] = [];
  let line: (typeof lines)[number] | undefined;
  for (const { str, transform, width, height, fontName, hasEOL } of pieces) {
    const { x, y, isTurned } = placeOf(transform);
    if (str.trim() !== "") {
      const isOther =
        line?.isTurned !== isTurned ||
        Math.abs(y - line.y) > LINE_SHIFT * Math.max(height, line.height);
      if (line === undefined || isOther) {
        line = { text: "", y, height, isTurned, end: x, fonts: new Set(), parts: [] };
        lines.push(line);
      }
      const gap = Math.abs(x - line.end);
      if (gap > height) line.text += " ";
      line.text += gap > WORD_GAP * height ? spaced(line.text, str) : str;
      line.end = x + width;
      line.fonts.add(fontName);
    } else if (line !== undefined && str !== "") line.text += " ";
    line?.parts.push({ str, x, end: x + width });
    if (hasEOL) line = undefined;
  }
  return lines.map(({ parts, ...each }) => {
    const text = isRightToLeft(each.text) ? readingOrder(parts, WORD_GAP * each.height) : each.text;
    return { ...each, text: text.replace(/\s+/g, " ").replace(LEADERS, " … ").trim() };
  });
}

/** The place of a piece along its line and across; the lines of a text that is turned run up or down. */
function placeOf([cos = 1, sin = 0, , , x = 0, y = 0]: readonly number[]) {
  const isTurned = Math.abs(sin) > Math.abs(cos);
  if (!isTurned) return { x, y, isTurned };
  return sin > 0 ? { x: y, y: -x, isTurned } : { x: -y, y: x, isTurned };
}

/** The height of the letters in which most of the text is; 0 without any. */
export function bodyHeight(lines: Iterable<Line>): number {
  const chars = new Map<number, number>();
  for (const { text, height } of lines) {
    const rounded = Math.round(height * 10) / 10;
    chars.set(rounded, (chars.get(rounded) ?? 0) + text.length);
  }
  const [[most] = [0]] = [...chars].sort(([, a], [, b]) => b - a);
  return most;
}

/** The words that are written with a hyphen within a line, in small letters. */
export function compoundsOf(lines: Iterable<Line>): Set<string> {
  const compounds = new Set<string>();
  for (const { text } of lines)
    for (const [word] of text.matchAll(COMPOUND)) compounds.add(formOf(word));
  return compounds;
}

const formOf = (word: string) => word.toLowerCase().replaceAll("\u2010", "-");

/** The paragraphs of a page: a PDF knows only where its letters are. */
export function paragraphsOf(lines: Iterable<Line>, compounds: ReadonlySet<string>): string[] {
  const paragraphs: string[] = [];
  let before: Line | undefined;
  for (const line of lines) {
    if (before === undefined || isApart(before, line)) paragraphs.push(line.text);
    else paragraphs.push(joined(paragraphs.pop() ?? "", line.text, compounds));
    before = line;
  }
  return paragraphs;
}

function isApart(before: Line, { text, y, height, isTurned, fonts }: Line): boolean {
  const [smaller, larger] = [Math.min(height, before.height), Math.max(height, before.height)];
  return (
    before.isTurned !== isTurned ||
    Math.abs(before.y - y) > PARAGRAPH_GAP * larger ||
    larger > SIZE_FACTOR * smaller ||
    BULLET.test(text) ||
    fonts.isDisjointFrom(before.fonts)
  );
}

/** A word that is divided at the end of a line is one word, with the hyphen that it has elsewhere in the document. */
function joined(before: string, after: string, compounds: ReadonlySet<string>): string {
  const [, first, hyphen] = FIRST_PART.exec(before.slice(-WORD_MAX_CHARS)) ?? [];
  const [second] = SECOND_PART.exec(after) ?? [];
  if (first === undefined || second === undefined || CONJUNCTION.test(second))
    return before + spaced(before, after);
  const keepsHyphen =
    hyphen !== "\u00ad" &&
    (!/^\p{Ll}/u.test(second) || compounds.has(formOf(`${first}-${second}`)));
  return (keepsHyphen ? before : before.slice(0, -1)) + after;
}

/** A text with a space before it, if the preceding text requires one. */
function spaced(before: string, text: string): string {
  const isUnspaced = UNSPACED.test(before.at(-1) ?? "") && UNSPACED.test(text.at(0) ?? "");
  return before === "" || before.endsWith(" ") || isUnspaced ? text : ` ${text}`;
}

/** A part of a line of a page. */
interface LinePart {
  readonly str: string;
  /** Where it begins and ends, from the left. */
  readonly x: number;
  readonly end: number;
}

type Direction = "left" | "right" | undefined;

const isRightToLeft = (text: string): boolean => RIGHT_TO_LEFT.test(text);

/**
 * The texts of a line in the order in which they are read. A line with Arabic or Hebrew may come in the order of a page, from
 * the left, with an item for each letter.
 *
 * @param spaceFrom parts that are farther from each other than this are different words
 */
function readingOrder(parts: readonly LinePart[], spaceFrom: number): string {
  const texts: string[] = [];
  const sorted = parts.toSorted((a, b) => a.x - b.x);
  let end = sorted[0]?.end ?? 0;
  for (const part of sorted) {
    // The reader adds spaces without a width.
    if (part.str.trim() === "" && part.end - part.x <= spaceFrom) continue;
    if (part.x - end > spaceFrom) texts.push(" ");
    texts.push(part.str);
    end = Math.max(end, part.end);
  }
  const line = texts.join("");
  const fromRight = line.match(RIGHT_TO_LEFT_LETTERS)?.length ?? 0;
  const all = line.match(LEFT_TO_RIGHT_LETTERS)?.length ?? 0;
  const base = 2 * fromRight >= all ? "right" : "left";
  const runs = runsOf(texts, base);
  if (base === "right") runs.reverse();
  return runs
    .map(({ direction, texts }) => (direction === "right" ? texts.toReversed() : texts).join(""))
    .join("");
}

interface Run {
  readonly direction: Direction;
  readonly texts: string[];
}

/** Texts that follow each other in one direction. Those without one have that of their neighbours, if it is the same. */
function runsOf(texts: readonly string[], base: Direction): Run[] {
  const own = texts.map(directionOf);
  const before = own.map(() => base);
  for (let i = 1; i < own.length; i++) before[i] = own[i - 1] ?? before[i - 1] ?? base;
  const runs: Run[] = [];
  let after = base;
  for (let i = own.length - 1; i >= 0; i--) {
    const direction = own[i] ?? (before[i] === after ? after : base);
    after = own[i] ?? after;
    const [run] = runs;
    const text = texts[i] as string;
    if (run !== undefined && run.direction === direction) run.texts.unshift(text);
    else runs.unshift({ direction, texts: [text] });
  }
  return runs;
}

function directionOf(text: string): Direction {
  if (RIGHT_TO_LEFT.test(text)) return "right";
  return LEFT_TO_RIGHT.test(text) ? "left" : undefined;
}

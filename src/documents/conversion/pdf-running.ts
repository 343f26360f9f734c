import { bodyHeight, type Line, SIZE_FACTOR } from "./pdf-lines.ts";

/** The lines of a page, and its edges in points from the bottom. */
export interface PageLines {
  readonly lines: readonly Line[];
  readonly top: number;
  readonly bottom: number;
}

/** Running heads and feet are in this part of a page at its top and at its bottom. */
const MARGIN_SHARE = 0.15;
/** Fewer pages repeat a line by chance. */
const REPEATED_MIN = 3;
/** Lines at the same height differ by less than this number of points. */
const SAME_HEIGHT = 4;
/** The first numbers of a line, each of which may be that of its page. */
const NUMBERS_MAX = 4;
/** A line that has nothing but the number of a page, which may be that of a preface or of a chapter. */
const NUMBER_LINE = /^[\s\p{P}]*(?:\d+|[ivxlcdm]+)(?:[\s\p{P}]+\d+)*[\s\p{P}]*$/iu;
const ARABIC_DIGIT = /[\u0660-\u0669\u06f0-\u06f9]/g;

/** Counts of left and of right pages. */
type Pages = [left: number, right: number];

/**
 * The lines of each page without the running heads and feet: most pages, or most left or right ones, have the same text
 * at the same height, apart from the number of the page, or have that number there.
 */
export function withoutRunningLines(pages: readonly PageLines[]): (readonly Line[])[] {
  const running = new RunningLines(pages);
  const rest = pages.map((page, number) => page.lines.filter((line) => !running.has(line, number)));
  // Pages that are all alike have no other text.
  return rest.some((lines) => lines.length > 0) ? rest : pages.map(({ lines }) => lines);
}

function isInMargin({ y }: Line, { top, bottom }: PageLines): boolean {
  const margin = MARGIN_SHARE * (top - bottom);
  return y > top - margin || y < bottom + margin;
}

class RunningLines {
  readonly #seen = new Map<string, Pages>();
  /** Where the numbers of pages are. */
  readonly #numbered = new Map<string, Pages>();
  readonly #of: Pages;
  /** A heading with a number is larger than the text. */
  readonly #numberedMax: number;

  constructor(pages: readonly PageLines[]) {
    this.#of = [Math.ceil(pages.length / 2), Math.floor(pages.length / 2)];
    this.#numberedMax = SIZE_FACTOR * bodyHeight(pages.flatMap(({ lines }) => lines));
    pages.forEach((page, number) => {
      const inMargins = page.lines.filter((line) => isInMargin(line, page));
      const keys = new Set(inMargins.flatMap((line) => this.#keysOf(line, number)));
      for (const key of keys) count(this.#seen, key, number);
    });
    pages.forEach((page, number) => {
      for (const line of page.lines)
        if (NUMBER_LINE.test(westernDigits(line.text)) && this.has(line, number))
          for (const height of heightsOf(line)) count(this.#numbered, height, number);
    });
  }

  has(line: Line, number: number): boolean {
    if (this.#keysOf(line, number).some((key) => this.#isFrequent(this.#seen.get(key))))
      return true;
    return (
      NUMBER_LINE.test(westernDigits(line.text)) &&
      heightsOf(line).some((height) => this.#isFrequent(this.#numbered.get(height)))
    );
  }

  #isFrequent(pages: Pages | undefined): boolean {
    if (pages === undefined) return false;
    const [[left, right], [ofLeft, ofRight]] = [pages, this.#of];
    if (left + right < REPEATED_MIN) return false;
    return (
      2 * (left + right) > ofLeft + ofRight ||
      (2 * left > ofLeft && left >= REPEATED_MIN) ||
      (2 * right > ofRight && right >= REPEATED_MIN)
    );
  }

  /**
   * The text of a line at its height, as it is and with each of its numbers counted from that of the page. A number at
   * the start or at the end is enough: the text next to the number of a page is that of a chapter.
   */
  #keysOf(line: Line, number: number): string[] {
    const text = westernDigits(line.text);
    const texts = [text];
    if (line.height <= this.#numberedMax || NUMBER_LINE.test(text)) {
      for (const { 0: found, index } of [...text.matchAll(/\d+/g)].slice(0, NUMBERS_MAX)) {
        const [before, after] = [text.slice(0, index), text.slice(index + found.length)];
        const counted = `\0${Number(found) - number}`;
        texts.push(before + counted + after);
        if (before.trim() === "" || after.trim() === "") texts.push(counted);
      }
    }
    return heightsOf(line).flatMap((height) => texts.map((each) => `${height} ${each}`));
  }
}

function count(counts: Map<string, Pages>, key: string, number: number): void {
  const pages = counts.get(key) ?? [0, 0];
  if (number % 2 === 0) pages[0]++;
  else pages[1]++;
  counts.set(key, pages);
}

/** The height of a line in two grids that overlap, so that lines at the same height have one in common. */
function heightsOf({ y }: Line): string[] {
  return [`${Math.floor(y / SAME_HEIGHT)}`, `${Math.floor(y / SAME_HEIGHT + 0.5)}~`];
}

function westernDigits(text: string): string {
  return text.replace(ARABIC_DIGIT, (digit) => String(digit.charCodeAt(0) % 16));
}

/** A part of a line of a page. */
export interface LinePart {
  readonly str: string;
  /** Where it begins and ends, from the left. */
  readonly x: number;
  readonly end: number;
}

type Direction = "left" | "right" | undefined;

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const RIGHT_TO_LEFT_LETTERS = new RegExp(RIGHT_TO_LEFT, "g");
const LEFT_TO_RIGHT_LETTERS = /\p{L}/gu;
const LEFT_TO_RIGHT = /[\p{L}\p{N}]/u;

export const isRightToLeft = (text: string): boolean => RIGHT_TO_LEFT.test(text);

/**
 * The texts of a line in the order in which they are read. A line with Arabic or Hebrew may come in the order of a page, from
 * the left, with an item for each letter.
 *
 * @param spaceFrom parts that are farther from each other than this are different words
 */
export function readingOrder(parts: readonly LinePart[], spaceFrom: number): string {
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

import { WORD_MAX_CHARS } from "../../shared/limits.ts";
import { INVISIBLE_SET, UNSPACED } from "./folding.ts";
import { eachSimpleRun, RUN } from "./simple-runs.ts";
import { unitsOf } from "./text-units.ts";
import { isUnspaced, unicodeTokens } from "./tokenize.ts";
import type { WordStarts } from "./word-starts.ts";
import { isSeparator, textOf } from "./words.ts";

interface WordSpan {
  /** In UTF-16 code units. */
  start: number;
  /** Exclusive. */
  end: number;
  token: string;
}

/**
 * The words of a text, where they are, and the token that each has in the index. In unspaced scripts
 * every pair of neighbouring characters is a word.
 *
 * @param starts Most words of a text are of no interest: most are only given if they may have been
 *   added to it.
 */
export function wordSpans(text: string, starts: WordStarts): WordSpan[] {
  const spans: WordSpan[] = [];
  const units = unitsOf(text);
  const { length } = text;
  for (let i = 0; i < length; ) {
    const start = i;
    let isAscii = true;
    for (; i < length; i++) {
      const unit = units[i] as number;
      if (isSeparator(unit)) break;
      if (unit >= 128) isAscii = false;
    }
    if (i === start) i++;
    else if (!isAscii) pushOtherSpans(text.slice(start, i), start, starts, spans);
    else if (starts.mayHave(units, start, i)) {
      const token = text.slice(start, Math.min(i, start + WORD_MAX_CHARS)).toLowerCase();
      spans.push({ start, end: i, token });
    }
  }
  return spans;
}

/** Adds the spans of a piece of text that is at `offset` in the whole. */
function pushOtherSpans(
  piece: string,
  offset: number,
  starts: WordStarts,
  spans: WordSpan[],
): void {
  const isSimple = eachSimpleRun(piece, (kind, units, from, to) => {
    const push = (at: number, end: number, tokenEnd: number) => {
      if (!starts.mayHave(units, at, tokenEnd)) return;
      const token = textOf(units, at, tokenEnd);
      spans.push({ start: offset + at, end: offset + end, token });
    };
    if (kind === RUN.spaced) push(from, to, Math.min(to, from + WORD_MAX_CHARS));
    else for (let i = from; i < to; i++) push(i, Math.min(to, i + 2), Math.min(to, i + 2));
  });
  if (isSimple) return;
  for (const match of piece.matchAll(RUNS)) pushRun(match[0], offset + match.index, spans);
}

/** The runs of a text that is not folded. */
const RUNS = new RegExp(
  `[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}${INVISIBLE_SET}])+|\\p{Extended_Pictographic}`,
  "gu",
);

function pushRun(run: string, start: number, spans: WordSpan[]): void {
  if (!isUnspaced(run)) {
    for (const token of unicodeTokens(run)) spans.push({ start, end: start + run.length, token });
    return;
  }
  let previous = "";
  let at = start;
  for (const character of run) {
    if (previous !== "") {
      const token = unicodeTokens(previous + character)[0];
      const end = at + previous.length + character.length;
      if (token !== undefined) spans.push({ start: at, end, token });
      at += previous.length;
    }
    previous = character;
  }
  const [token] = unicodeTokens(previous);
  if (token !== undefined) spans.push({ start: at, end: at + previous.length, token });
}

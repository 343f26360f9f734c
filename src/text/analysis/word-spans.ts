import { WORD_MAX_CHARS } from "../../shared/limits.ts";
import { INVISIBLE_SET, UNSPACED } from "./folding.ts";
import { eachSimpleRun, RUN } from "./simple-runs.ts";
import { unitsOf } from "./text-units.ts";
import { isUnspaced, unicodeTokens } from "./tokenize.ts";
import type { WordTable } from "./word-table.ts";
import { isSeparator } from "./words.ts";

/** A word of a table in a text. */
export interface WordSpan {
  /** In UTF-16 code units. */
  start: number;
  /** Exclusive. */
  end: number;
  /** Its number in the table. */
  word: number;
}

/**
 * Where a text holds words of a table. In unspaced scripts every pair of neighbouring characters is a
 * word.
 */
export function wordSpans(text: string, table: WordTable): WordSpan[] {
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
    else if (!isAscii) pushOtherSpans(text.slice(start, i), start, table, spans);
    else {
      const word = table.find(units, start, Math.min(i, start + WORD_MAX_CHARS));
      if (word !== 0) spans.push({ start, end: i, word });
    }
  }
  return spans;
}

/** Adds the spans of a piece of text that is at `offset` in the whole. */
function pushOtherSpans(piece: string, offset: number, table: WordTable, spans: WordSpan[]): void {
  const isSimple = eachSimpleRun(piece, (kind, units, from, to) => {
    const push = (at: number, end: number, tokenEnd: number) => {
      const word = table.find(units, at, tokenEnd);
      if (word !== 0) spans.push({ start: offset + at, end: offset + end, word });
    };
    if (kind === RUN.spaced) push(from, to, Math.min(to, from + WORD_MAX_CHARS));
    else for (let i = from; i < to; i++) push(i, Math.min(to, i + 2), Math.min(to, i + 2));
  });
  if (isSimple) return;
  for (const match of piece.matchAll(RUNS)) pushRun(match[0], offset + match.index, table, spans);
}

/** The runs of a text that is not folded. */
const RUNS = new RegExp(
  `[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}${INVISIBLE_SET}])+|\\p{Extended_Pictographic}`,
  "gu",
);

function pushRun(run: string, start: number, table: WordTable, spans: WordSpan[]): void {
  const push = (token: string | undefined, from: number, end: number) => {
    const word = token === undefined ? 0 : table.findText(token);
    if (word !== 0) spans.push({ start: from, end, word });
  };
  if (!isUnspaced(run)) {
    for (const token of unicodeTokens(run)) push(token, start, start + run.length);
    return;
  }
  let previous = "";
  let at = start;
  for (const character of run) {
    if (previous !== "") {
      push(unicodeTokens(previous + character)[0], at, at + previous.length + character.length);
      at += previous.length;
    }
    previous = character;
  }
  push(unicodeTokens(previous)[0], at, at + previous.length);
}

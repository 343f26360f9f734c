import { WORD_MAX_CHARS } from "../../shared/limits.ts";
import { INVISIBLE_SET, UNSPACED } from "./folding.ts";
import { eachSimpleRun, RUN } from "./simple-runs.ts";
import { isUnspaced, unicodeTokens } from "./tokenize.ts";
import { textOf } from "./words.ts";

/** The start and the end of a token in a text, in UTF-16 code units, and the token, one after another. */
type TokenSpans = Array<number | string>;

/** The tokens of a text without ASCII separators, and where they are. */
export function tokenSpans(text: string): TokenSpans {
  const spans: TokenSpans = [];
  const isSimple = eachSimpleRun(text, (kind, units, from, to) => {
    if (kind === RUN.spaced) {
      spans.push(from, to, textOf(units, from, Math.min(to, from + WORD_MAX_CHARS)));
      return;
    }
    for (let i = from; i < to; i++) {
      const end = Math.min(to, i + 2);
      spans.push(i, end, textOf(units, i, end));
    }
  });
  if (isSimple) return spans;
  return [...text.matchAll(RUNS)].flatMap((match) => spansOfRun(match[0], match.index));
}

/** The runs of a text that is not folded. */
const RUNS = new RegExp(
  `[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}${INVISIBLE_SET}])+|\\p{Extended_Pictographic}`,
  "gu",
);

/** The tokens of a run that starts at this position. */
function spansOfRun(run: string, start: number): TokenSpans {
  if (!isUnspaced(run)) {
    return unicodeTokens(run).flatMap((token) => [start, start + run.length, token]);
  }
  const spans: TokenSpans = [];
  const push = (characters: string, at: number) => {
    const token = unicodeTokens(characters)[0];
    if (token !== undefined) spans.push(at, at + characters.length, token);
  };
  let previous = "";
  let at = start;
  for (const character of run) {
    if (previous !== "") {
      push(previous + character, at);
      at += previous.length;
    }
    previous = character;
  }
  push(previous, at);
  return spans;
}

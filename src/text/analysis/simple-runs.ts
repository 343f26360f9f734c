import { charactersOf, countCharacters } from "./characters.ts";
import { fold, KIND } from "./folding.ts";

type RunKind = typeof KIND.spaced | typeof KIND.unspaced;

/** How the unit is folded depends on the units next to it, or it becomes none or several. */
export const NOT_SIMPLE = 4;

/** The kind of each UTF-16 code unit and what it is folded to, once it has occurred; else 0. */
const kinds = new Uint8Array(65_536);
const foldedUnits = new Uint16Array(65_536);
/** Whether each unit that has occurred is a character of its own, whatever is next to it: 1 if it is. */
const alone = new Uint8Array(65_536);

/** The same tables, for native code. */
export const unitTables = { kinds, folded: foldedUnits } as const;

function classify(unit: number): number {
  const character = String.fromCharCode(unit);
  const { kind, text } = fold(character);
  alone[unit] = joinsNeighbours(character) ? 0 : 1;
  const isSimple = isSimpleKind(kind) && text.length <= 1 && alone[unit] === 1;
  const folded = text === "" ? unit : text.charCodeAt(0);
  foldedUnits[unit] = folded;
  kinds[unit] = isSimple ? kind : NOT_SIMPLE;
  return kinds[unit] as number;
}

const isSimpleKind = (kind: number) =>
  kind === KIND.spaced || kind === KIND.unspaced || kind === KIND.separator;

/** A consonant to which another one is joined in scripts that do so. */
const JOINING_CONSONANT = "क्";
const JAMO = /\p{sc=Hang}/u;
/** Letters of scripts that join none, for which the segmenter, which is slow, need not be asked. */
const ALONE =
  /[\p{L}&&[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}]]/v;

/** True if the unit can be one character with what comes before or after it. */
function joinsNeighbours(character: string): boolean {
  if (!character.isWellFormed()) return true;
  if (JAMO.test(character) && character.normalize("NFD") === character) return true;
  return !ALONE.test(character) && countCharacters(`${JOINING_CONSONANT}${character}a`) < 3;
}

/** The kind of a code unit, if it is folded to one whatever is next to it; else NOT_SIMPLE. */
export function kindOf(unit: number): number {
  return kinds[unit] || classify(unit);
}

/** The characters of a text as readers see them. The segmenter is slow, and rarely needed. */
export function charactersIn(text: string): Iterable<string> {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (kindOf(unit) === NOT_SIMPLE && alone[unit] === 0) return charactersOf(text);
  }
  return text;
}

/** Receives a run as folded code units. Its positions in `units` are those in the text. */
type OnRun = (kind: RunKind, units: Uint16Array, from: number, to: number) => void;

const FIRST_UNITS = 4_096;
let scratch = new Uint16Array(FIRST_UNITS);

/**
 * Cuts a text into runs, where every code unit is folded to exactly one, whatever its neighbours
 * are, as in nearly all texts. That takes a fraction of the time of folding characters. Returns
 * false, and gives no run, for other texts. `onRun` must not call it.
 */
export function eachSimpleRun(text: string, onRun: OnRun): boolean {
  const { length } = text;
  if (scratch.length < length) scratch = new Uint16Array(length * 2);
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (kindOf(unit) === NOT_SIMPLE) return false;
    scratch[i] = unit;
  }
  let start = 0;
  for (let i = 0; i < length; i++) {
    const unit = scratch[i] as number;
    scratch[i] = foldedUnits[unit] as number;
    const kind = kinds[unit] as number;
    if (i + 1 < length && kinds[scratch[i + 1] as number] === kind) continue;
    if (kind !== KIND.separator) onRun(kind as RunKind, scratch, start, i + 1);
    start = i + 1;
  }
  return true;
}

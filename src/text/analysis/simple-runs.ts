import { charactersOf, countCharacters } from "./characters.ts";
import { fold, KIND } from "./folding.ts";

type RunKind = typeof KIND.spaced | typeof KIND.unspaced;

/** The folding of the unit depends on the units next to it, or does not result in exactly one unit. */
export const NOT_SIMPLE = 4;

/** The kind and the folded unit of each UTF-16 code unit, once it has occurred; else 0. */
const kinds = new Uint8Array(65_536);
const foldedUnits = new Uint16Array(65_536);
/** 1 for each unit that has occurred and is always a character of its own. */
const alone = new Uint8Array(65_536);

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

/** A consonant that scripts with conjuncts join to the next one. */
const JOINING_CONSONANT = "क्";
const JAMO = /\p{sc=Hang}/u;
/** Letters of scripts that do not join letters. For them the slow segmenter is not needed. */
const ALONE =
  /[\p{L}&&[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}]]/v;

/** True if the unit can form one character with its neighbours. */
function joinsNeighbours(character: string): boolean {
  if (!character.isWellFormed()) return true;
  if (JAMO.test(character) && character.normalize("NFD") === character) return true;
  return !ALONE.test(character) && countCharacters(`${JOINING_CONSONANT}${character}a`) < 3;
}

/** The kind of a code unit that is always folded to one unit, regardless of its neighbours; else NOT_SIMPLE. */
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
 * Cuts a text into runs, if every code unit is folded to exactly one, regardless of its neighbours, as in nearly all
 * texts. That takes a fraction of the time of folding characters. For other texts it returns false without a call of
 * `onRun`. `onRun` must not call this function.
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

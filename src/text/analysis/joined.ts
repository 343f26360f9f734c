/**
 * What some texts write with signs or spaces and others as one word: numbers with their thousands apart, telephone
 * numbers, abbreviations with dots or `&`, hexadecimal numbers with and without `0x`.
 */

interface Joined {
  /** As one word. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const [DOT, COMMA, AND, PLUS, ZERO, X] = [...".,&+0x"].map((sign) => sign.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
  number,
  number,
];
const isDigit = (unit: number | undefined) => unit !== undefined && unit >= 48 && unit <= 57;

/** Whether a word can be a part of such a thing, of which `joinedAt` finds out more. */
export function isJoint(units: Uint16Array, start: number, end: number, next: number): boolean {
  if (next === DOT) return end - start === 1;
  if (next === AND) return true;
  const first = units[start] as number;
  if (!isDigit(first)) return false;
  if (next === COMMA || units[start - 1] === PLUS) return true;
  return first === ZERO && units[start + 1] === X;
}

const ABBREVIATION = "(?<!\\p{L}\\.)\\p{L}(?:(?:\\.\\p{L}){2,}(?![\\p{L}\\p{N}])|\\.\\p{L}(?=\\.))";
const WITH_AND = "(?<![\\p{L}&])\\p{Lu}{1,4}&\\p{Lu}{1,4}(?![\\p{L}&])";
const THOUSANDS = "(?<!\\d,)\\d{1,3}(?:,\\d{3})+(?!\\d|,\\d)";
const TELEPHONE = "(?<=\\+)(?=(?:[ ()/.-]*\\d){7})\\d{1,3}(?:[ ()/.-]{1,3}\\d+){1,6}";
const HEXADECIMAL = "0[xX][\\dA-Fa-f]{4,16}(?![\\p{L}\\p{N}])";
const JOINED = new RegExp(
  [ABBREVIATION, WITH_AND, THOUSANDS, TELEPHONE, HEXADECIMAL].join("|"),
  "uy",
);
const SIGNS = /[^\p{L}\p{N}]+|^0[xX](?=.{4})/gu;

/** What starts at a position and others write as one word. */
export function joinedAt(text: string, start: number): Joined | undefined {
  JOINED.lastIndex = start;
  const [found] = JOINED.exec(text) ?? [];
  if (found === undefined) return undefined;
  return { text: found.replace(SIGNS, ""), start, end: start + found.length };
}

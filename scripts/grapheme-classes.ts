/** Finds by trials the classes by which the runtime divides texts into grapheme clusters (UAX #29). */

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });

function isOne(text: string): boolean {
  let count = 0;
  for (const _ of segmenter.segment(text)) count++;
  return count === 1;
}

/** `GraphemeBreak` in native/src/text/analysis/unicode.hpp. */
const BREAK = {
  other: 0,
  control: 1,
  extend: 2,
  joiner: 3,
  spacingMark: 4,
  prepend: 5,
  regional: 6,
  leading: 7,
  vowel: 8,
  trailing: 9,
  open: 10,
  closed: 11,
  pictograph: 12,
} as const;
/** `Conjunct` in native/src/text/analysis/unicode.hpp. */
const CONJUNCT = { none: 0, consonant: 1, linker: 2, extend: 3 } as const;

const [LEADING, VOWEL, TRAILING] = ["\u1100", "\u1161", "\u11a8"] as const;
const [PICTOGRAPH, JOINER, CONSONANT, LINKER, MARK] = [
  "❤",
  "\u200d",
  "क",
  "\u094d",
  "\u0300",
] as const;

interface GraphemeClass {
  readonly breaks: number;
  readonly conjunct: number;
}

const OTHER: GraphemeClass = { breaks: BREAK.other, conjunct: CONJUNCT.none };
/** Characters that cannot join others. */
const PLAIN = /[[\p{sc=Han}&&\p{L}]\p{Co}[\p{Cn}--\p{DI}--\p{ExtPict}]]/v;
const SYLLABLE = /[\uac00-\ud7a3]/;
const SYLLABLES_PER_VOWEL = 28;

export function graphemeClassOf(character: string): GraphemeClass {
  if (PLAIN.test(character)) return OTHER;
  if (SYLLABLE.test(character)) {
    const isOpen = (character.charCodeAt(0) - 0xac00) % SYLLABLES_PER_VOWEL === 0;
    return { breaks: isOpen ? BREAK.open : BREAK.closed, conjunct: CONJUNCT.none };
  }
  return { breaks: breakOf(character), conjunct: conjunctOf(character) };
}

function breakOf(character: string): number {
  if (isOne(`a${character}`)) {
    if (isOne(PICTOGRAPH + character + PICTOGRAPH)) return BREAK.joiner;
    const isExtend = isOne(PICTOGRAPH + character + JOINER + PICTOGRAPH);
    return isExtend ? BREAK.extend : BREAK.spacingMark;
  }
  if (!isOne(character + MARK)) return BREAK.control;
  if (isOne(`${character}a`)) return BREAK.prepend;
  if (isOne(`${character}\u{1f1e6}`)) return BREAK.regional;
  if (isOne(character + JOINER + PICTOGRAPH)) return BREAK.pictograph;
  if (isOne(character + LEADING)) return BREAK.leading;
  if (isOne(character + VOWEL)) return BREAK.vowel;
  return isOne(character + TRAILING) ? BREAK.trailing : BREAK.other;
}

function conjunctOf(character: string): number {
  if (isOne(CONSONANT + character + CONSONANT)) return CONJUNCT.linker;
  if (isOne(CONSONANT + character + LINKER + CONSONANT)) return CONJUNCT.extend;
  return isOne(character + LINKER + CONSONANT) ? CONJUNCT.consonant : CONJUNCT.none;
}

import { to } from "opencc-js/preset/t2cn";

/**
 * Folds characters, as readers see them (grapheme clusters), to parts of tokens. The rules follow from their Unicode
 * properties in the engine, except for a few letters that Unicode does not relate to others.
 */

/** The role of a character in a text. */
export const KIND = {
  /** A run of them is one token. */
  spaced: 1,
  /** Every pair of neighbours is a token, and so is the last one of a run. */
  unspaced: 2,
  separator: 3,
  /** Each of them is a token. */
  pictograph: 5,
  /** It is neither a part of a run nor ends one. */
  ignored: 6,
} as const;
type Kind = (typeof KIND)[keyof typeof KIND];

export interface FoldedCharacter {
  readonly kind: Kind;
  /** The folded text for comparisons; "" unless the character is a part of a token. */
  readonly text: string;
}

/** Scripts that are written without spaces between words, or with words that run together. */
const UNSPACED =
  "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}ー々";
const UNSPACED_START = new RegExp(`^[${UNSPACED}]`, "u");
const LETTER_START = /^[\p{L}\p{N}]/u;
const NO_LETTERS = /[^\p{L}\p{N}\p{M}]/gu;

const PICTOGRAPH = /\p{Extended_Pictographic}|\p{RI}/u;
const PICTOGRAPHS = /\p{RI}\p{RI}|\p{Extended_Pictographic}|\p{RI}/gu;

const SIGN = /[©®]/;
/** Letters that are written for an apostrophe, or the other way round: ʼ, ʻ, ʾ, ʿ, ꞌ. */
const APOSTROPHE = /^[\u02b9-\u02bf\ua78b\ua78c]/;

/**
 * Symbols and numbers that stand for themselves, such as © or ①, although their compatibility forms are letters
 * and digits. Superscripts and subscripts are digits (H₂O), and squared words (㎞) are words.
 */
const SYMBOL = /^(?![²³¹\u2070-\u209f\u3300-\u33ff])[\p{S}[\p{No}&&\p{sc=Zyyy}]]/v;
/** Enclosing marks, which turn a character into a symbol. */
const ENCLOSING = /\p{Me}/u;

/**
 * Characters that comparisons ignore: invisible characters; the marks that alphabets do without, but neither the vowels
 * of other scripts nor the voicing marks of kana; the nukta of Devanagari, which many texts omit; tatweel; geresh and
 * gershayim, and `"`, which is written for them between Hebrew letters.
 */
const REMOVED =
  /[\p{DI}\p{Cf}[[\p{M}&&[\p{sc=Zinh}\p{sc=Arab}\p{sc=Hebr}\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Syrc}]]--[\u3099\u309a]]\u093c\u0640\u05f3\u05f4"]/gv;

/** Replacements of letters that Unicode does not decompose. */
const LETTERS: Record<string, string> = {
  ...{ æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ħ: "h", ŧ: "t", ı: "i" },
  // Arabic: alef wasla, alef maksura and Farsi yeh, keheh and swash kaf, teh marbuta and forms of heh.
  ...{ ٱ: "ا", ى: "ي", ی: "ي", ک: "ك", ڪ: "ك", ة: "ه", ہ: "ه", ھ: "ه", ە: "ه" },
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "g");

const HAN = /\p{sc=Han}/gu;
/** The simplified forms of traditional characters, by OpenCC: the most frequent one if there are several. */
const simplified = new Map(
  (to.cn ?? [])
    .flat()
    .flatMap((pairs) => (typeof pairs === "string" ? pairs.split("|") : []))
    .map((pair) => pair.split(" ") as [traditional: string, simplified: string])
    .filter(([traditional]) => [...traditional].length === 1),
);

/** Letters of katakana with a counterpart in hiragana, and the distance of their code points. */
const KATAKANA = /[\u30a1-\u30f6\u30fd\u30fe]/g;
const KANA_DISTANCE = 0x60;

const DIGIT = /\p{Nd}/u;
const OTHER_DIGITS = /(?![0-9])\p{Nd}/gu;
const DIGITS = 10;

/** The ASCII digit for a digit of any script. The digits of a script are consecutive, from 0. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) as number;
  let first = code;
  while (DIGIT.test(String.fromCodePoint(first - 1))) first--;
  return String((code - first) % DIGITS);
}

/** Folds case, compatibility forms, marks and national digits, katakana to hiragana, and traditional characters. */
function foldLetters(text: string): string {
  const folded = text
    .normalize("NFKD")
    .replace(REMOVED, "")
    .toUpperCase()
    .toLowerCase()
    .replace(LETTER, (letter) => LETTERS[letter] as string)
    .replace(OTHER_DIGITS, asciiDigit)
    .replace(KATAKANA, (kana) => String.fromCharCode(kana.charCodeAt(0) - KANA_DISTANCE))
    .replace(REMOVED, "")
    .normalize("NFC");
  return simplifiedOf(folded);
}

/** Chinese text in simplified characters. */
export function simplifiedOf(text: string): string {
  return text.replace(HAN, (character) => simplified.get(character) ?? character);
}

/** @param character a grapheme cluster */
export function fold(character: string): FoldedCharacter {
  if (PICTOGRAPH.test(character)) {
    // Signs such as ™ and ℹ, which are letters by compatibility, are not pictographs.
    const isSign = SIGN.test(character) || character.normalize("NFKC") !== character;
    return isSign ? SEPARATOR : { kind: KIND.pictograph, text: character };
  }
  if (APOSTROPHE.test(character) || SYMBOL.test(character) || ENCLOSING.test(character))
    return SEPARATOR;
  const whole = foldLetters(character);
  if (whole === "") return IGNORED;
  const text = whole.replace(NO_LETTERS, "");
  // Marks without a letter are not a word.
  if (!LETTER_START.test(text)) return SEPARATOR;
  return { kind: isUnspaced(text) ? KIND.unspaced : KIND.spaced, text };
}

const SEPARATOR: FoldedCharacter = { kind: KIND.separator, text: "" };
const IGNORED: FoldedCharacter = { kind: KIND.ignored, text: "" };

/** The pictographs in a character, as tokens: flags, and the parts of a joined pictograph. */
export function pictographsIn(character: string): string[] {
  return character.match(PICTOGRAPHS) ?? [];
}

/** True if a token is of a script that is written without spaces between words. */
export function isUnspaced(token: string): boolean {
  return UNSPACED_START.test(token);
}

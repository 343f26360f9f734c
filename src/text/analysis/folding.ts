/** Folds text for comparison: NFKC, lower case, no accents. */
export function fold(text: string): string {
  const lower = text.normalize("NFKC").replace(INVISIBLE, "").toLowerCase();
  if (!NOT_ASCII.test(lower)) return lower;
  // Only these marks are accents. NFC recomposes the others, such as Japanese voicing marks.
  return lower
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .replace(/[ßæœøłđðþı]/g, (letter) => LETTERS[letter] ?? letter);
}

/** Soft hyphens and zero-width characters occur inside words without being part of them. */
export const INVISIBLE_SET = "\\u00ad\\u200b-\\u200d\\u2060\\ufeff";
const INVISIBLE = new RegExp(`[${INVISIBLE_SET}]`, "g");
const NOT_ASCII = /[^\0-\x7f]/;

const LETTERS: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};

/** Characters of scripts that are written without spaces between words. */
export const UNSPACED =
  "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}ー々";

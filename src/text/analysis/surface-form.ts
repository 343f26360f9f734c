import { WORD_MAX_CHARS } from "../../shared/limits.ts";

const INVISIBLE = /[\p{DI}\p{Cf}]/gu;

/**
 * The surface form of a word, as stemmers read it: in lower case, composed, and with the marks of its language, which
 * tokens lack. "" if the word is too long to have a stem.
 */
export function surfaceForm(word: string): string {
  const form = word.replace(INVISIBLE, "").toLowerCase().normalize("NFC");
  return form.length <= WORD_MAX_CHARS ? form : "";
}

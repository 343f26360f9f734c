import { stem as porter2 } from "porter2";

/** British spelling: organise, organisation. Not revise or precise, whose nouns end in -ision. */
const BRITISH = /^([a-z]{2,}(?:[abd-uw-z]|ic))is(es?|ed|ers?|ing|ations?|ational)$/;

/** The stem of a word by another implementation of Snowball's algorithm. */
export function stemByReference(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  return porter2(word.replace(BRITISH, "$1iz$2"));
}
